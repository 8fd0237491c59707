#include <algorithm>
#include <array>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

// More ranks than fit are not columns: the last one to arrive stands in its own.
constexpr std::size_t max_rank_columns = 32;

constexpr std::array<const char*, late_for_count> why_words{"its host came late", "its compute before took longer",
                                                            "a collective before held it up", "not known"};

}  // namespace

TablePanel::Content collectives_table(const Session& session) {
  TablePanel::Content content;
  const RunPtr run = session.chosen_run();
  content.empty = run ? "This run has no collectives." : "Open a run, a trace or a schedule first.";
  if (!run || run->timeline->collectives().empty()) return content;
  content.empty = "Looking for who is late...";
  const std::shared_ptr<const RunStudy> study = session.study(*run);
  if (!study) return content;
  const Timeline& timeline = *run->timeline;
  const Meetings& meetings = study->meetings;
  const bool columns = meetings.ranks.size() <= max_rank_columns;
  content.table.headers = {"Communicator", "#", "Collective", "Latest"};
  if (columns)
    for (const std::uint32_t rank : meetings.ranks) content.table.headers << QString("rank %1").arg(rank);
  content.table.headers << "Late"
                        << "Why";

  const double largest = std::max<double>(1, static_cast<double>(meetings.most_late.count()));
  for (const Meeting& meeting : meetings.shown) {
    TableRow row;
    row.cells = {{words(meeting.communicator), {}, {}, 0, false},
                 number_cell(static_cast<double>(meeting.sequence), QString::number(meeting.sequence)),
                 {words(meeting.op), {}, {}, 0, false},
                 time_cell(meeting.late)};
    row.cells.back().shade = static_cast<double>(meeting.late.count()) / largest;
    if (columns)
      for (const std::uint32_t rank : meetings.ranks) {
        const auto at = meeting.slices.find(rank);
        if (at == meeting.slices.end()) {
          row.cells.push_back({"-", -1.0, "does not take part", 0, true});
          continue;
        }
        const Picoseconds late = timeline.slice(at->second).start - meeting.first;
        Cell cell = time_cell(late);
        cell.shade = static_cast<double>(late.count()) / largest;
        row.cells.push_back(std::move(cell));
      }
    const bool any = meeting.late.count() > 0;
    row.cells.push_back({any ? QString("rank %1").arg(meeting.last) : QString("nobody"), {}, {}, 0, false});
    row.cells.push_back(
        {any ? QString(why_words[static_cast<std::size_t>(meeting.why)]) : QString(), {}, {}, 0, false});
    row.slice = SliceRef{*session.chosen(), meeting.slices.at(meeting.last)};
    content.table.rows.push_back(std::move(row));
  }
  const auto worst = std::ranges::max_element(meetings.late_of, {}, [](const auto& item) { return item.second.sum; });
  if (worst == meetings.late_of.end()) {
    content.summary = QString("%L1 collectives; all ranks arrive together.").arg(meetings.count);
  } else {
    const auto reason = std::ranges::max_element(meetings.reasons);
    content.summary = QString(
                          "%L1 collectives. <b>Rank %2</b> is late most: the last one %L3 times, by %4 in all. "
                          "Most lateness, %5: <b>%6</b>.")
                          .arg(meetings.count)
                          .arg(worst->first)
                          .arg(worst->second.times)
                          .arg(words(worst->second.sum), words(*reason),
                               why_words[static_cast<std::size_t>(reason - meetings.reasons.begin())]);
  }
  add_rest(content.table, meetings.count - content.table.rows.size());
  return content;
}

}  // namespace stave::gui
