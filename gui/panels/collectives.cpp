#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

// More ranks than fit are not columns: the last one to arrive stands in its own.
constexpr std::size_t max_rank_columns = 32;

enum class Why : std::uint8_t { HostLate, LongerCompute, EarlierCollective, Unknown };
constexpr std::array<const char*, 4> why_words{"its host came late", "its compute before took longer",
                                               "a collective before held it up", "not known"};

// What the start of a slice hung on: whatever it had to wait for that ended last.
Why why_late(const Run& run, SliceId slice) {
  const Timeline& timeline = *run.timeline;
  const Slice& late = timeline.slice(slice);
  std::optional<Time> last;
  Why why = Why::Unknown;
  const auto consider = [&](SliceId before, bool launch) {
    const Slice& other = timeline.slice(before);
    const Time end = launch ? std::max(other.start, std::min(other.end(), late.start)) : other.end();
    if (end > late.start || (last && end <= *last)) return;
    last = end;
    switch (run.index->work(before.row())) {
      case WorkKind::Compute:
      case WorkKind::Copy: why = Why::LongerCompute; break;
      case WorkKind::Communication: why = Why::EarlierCollective; break;
      case WorkKind::None: why = Why::HostLate; break;
    }
  };
  for (const std::uint32_t at : run.index->inflows(slice)) {
    const SliceFlow& flow = timeline.flows()[at];
    if (flow.kind != FlowKind::Collective) consider(flow.from, flow.kind == FlowKind::Launch);
  }
  const auto rows = run.index->rows(late.track);
  const auto at =
      std::ranges::lower_bound(rows, late.start, {}, [&](std::uint32_t row) { return timeline.slices()[row].start; });
  if (at != rows.begin()) consider(SliceId{*(at - 1) + 1}, false);
  return why;
}

struct Meeting {
  std::map<std::uint32_t, SliceId> slices;  // by rank
};

}  // namespace

TablePanel::Content collectives_table(const Session& session) {
  TablePanel::Content content;
  const RunPtr run = session.chosen_run();
  content.empty = run ? "This run has no collectives." : "Open a run, a trace or a schedule first.";
  if (!run || run->timeline->collectives().empty()) return content;
  const Timeline& timeline = *run->timeline;
  std::map<std::tuple<std::string_view, std::int64_t, std::string_view>, Meeting> meetings;
  std::set<std::uint32_t> ranks;
  for (const CollectiveDetail& row : timeline.collectives()) {
    const std::uint32_t rank = timeline.track(timeline.slice(row.slice).track).rank;
    ranks.insert(rank);
    std::string_view op = timeline.text(row.op);
    if (op == "send" || op == "recv") op = "send, recv";  // the two sides of one meeting
    meetings[{timeline.text(row.communicator), row.sequence, op}].slices.try_emplace(rank, row.slice);
  }
  const bool columns = ranks.size() <= max_rank_columns;
  content.table.headers = {"Communicator", "#", "Collective", "Latest"};
  if (columns)
    for (const std::uint32_t rank : ranks) content.table.headers << QString("rank %1").arg(rank);
  content.table.headers << "Late"
                        << "Why";

  double largest = 1;
  std::map<std::uint32_t, std::pair<Picoseconds, int>> late_of;  // how much, how often the last
  std::array<Picoseconds, 4> reasons{};
  for (const auto& [key, meeting] : meetings) {
    Time first = Time::max(), last = Time::min();
    for (const auto& [rank, slice] : meeting.slices) {
      first = std::min(first, timeline.slice(slice).start);
      last = std::max(last, timeline.slice(slice).start);
    }
    largest = std::max(largest, static_cast<double>((last - first).count()));
  }
  for (const auto& [key, meeting] : meetings) {
    Time first = Time::max();
    std::pair<Time, std::uint32_t> last{Time::min(), 0};
    for (const auto& [rank, slice] : meeting.slices) {
      first = std::min(first, timeline.slice(slice).start);
      if (timeline.slice(slice).start > last.first) last = {timeline.slice(slice).start, rank};
    }
    const Picoseconds latest = last.first - first;
    const Why why = latest.count() > 0 ? why_late(*run, meeting.slices.at(last.second)) : Why::Unknown;
    if (latest.count() > 0) {
      late_of[last.second].first += latest;
      ++late_of[last.second].second;
      reasons[static_cast<std::size_t>(why)] += latest;
    }
    if (content.table.rows.size() >= max_table_rows) continue;
    TableRow row;
    const auto& [communicator, sequence, op] = key;
    row.cells = {{words(communicator), {}, {}, 0, false},
                 number_cell(static_cast<double>(sequence), QString::number(sequence)),
                 {words(op), {}, {}, 0, false},
                 time_cell(latest)};
    row.cells.back().shade = static_cast<double>(latest.count()) / largest;
    if (columns)
      for (const std::uint32_t rank : ranks) {
        const auto at = meeting.slices.find(rank);
        if (at == meeting.slices.end()) {
          row.cells.push_back({"-", -1.0, "does not take part", 0, true});
          continue;
        }
        const Picoseconds late = timeline.slice(at->second).start - first;
        Cell cell = time_cell(late);
        cell.shade = static_cast<double>(late.count()) / largest;
        row.cells.push_back(std::move(cell));
      }
    row.cells.push_back(
        {latest.count() > 0 ? QString("rank %1").arg(last.second) : QString("nobody"), {}, {}, 0, false});
    row.cells.push_back(
        {latest.count() > 0 ? QString(why_words[static_cast<std::size_t>(why)]) : QString(), {}, {}, 0, false});
    row.slice = SliceRef{*session.chosen(),
                         meeting.slices.at(last.first == Time::min() ? meeting.slices.begin()->first : last.second)};
    content.table.rows.push_back(std::move(row));
  }
  const auto worst = std::ranges::max_element(late_of, {}, [](const auto& item) { return item.second.first; });
  if (worst == late_of.end()) {
    content.summary = QString("%L1 collectives; all ranks arrive together.").arg(meetings.size());
  } else {
    const auto reason = std::ranges::max_element(reasons);
    content.summary = QString(
                          "%L1 collectives. <b>Rank %2</b> is late most: the last one %L3 times, by %4 in all. "
                          "Most lateness, %5: <b>%6</b>.")
                          .arg(meetings.size())
                          .arg(worst->first)
                          .arg(worst->second.second)
                          .arg(words(worst->second.first), words(*reason),
                               why_words[static_cast<std::size_t>(reason - reasons.begin())]);
  }
  add_rest(content.table, meetings.size() - std::min(meetings.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
