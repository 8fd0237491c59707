#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/view/labels.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

Cell text_cell(QString text) { return {std::move(text), {}, {}, 0, false}; }

// What runs, and where.
void add_place(const Timeline& timeline, SliceId slice, const QString& before, TableRow& row) {
  const Track& track = timeline.track(timeline.slice(slice).track);
  row.cells.push_back(text_cell(before + words(title_of(timeline, slice))));
  row.cells.push_back(number_cell(track.rank, QString::number(track.rank)));
  row.cells.push_back(text_cell(words(track.name)));
}

const Cell no_number{{}, {}, {}, 0, true};

}  // namespace

TablePanel::Content critical_path_table(const Session& session) {
  TablePanel::Content content;
  content.empty = "Open a run, a trace or a schedule: this shows the chain of work and waiting that its end hangs on.";
  const RunPtr run = session.chosen_run();
  if (!run || run->report.critical_path.empty()) return content;
  const Timeline& timeline = *run->timeline;
  const std::shared_ptr<const RunStudy> study = session.study(*run);
  content.table.headers = {"Duration", "Share", "Slack", "Start", "What", "Rank", "Where", "Known how"};
  Picoseconds work{}, gap{}, communication{};
  double longest = 1;
  for (const PathPart& part : run->report.critical_path) {
    (part.kind == PathPart::Kind::Work ? work : gap) += part.duration;
    if (part.kind == PathPart::Kind::Work && run->index->work(part.slice.row()) == WorkKind::Communication)
      communication += part.duration;
    longest = std::max(longest, static_cast<double>(part.duration.count()));
  }
  const double total = std::max<double>(1, static_cast<double>((work + gap).count()));
  for (const PathPart& part : run->report.critical_path) {
    if (content.table.rows.size() >= max_table_rows) break;
    TableRow row;
    Cell duration = time_cell(part.duration);
    duration.shade = static_cast<double>(part.duration.count()) / longest;
    const double share = 100 * static_cast<double>(part.duration.count()) / total;
    row.cells = {std::move(duration), number_cell(share, QString("%1 %").arg(share, 0, 'f', 1)), no_number,
                 time_cell(part.start)};
    if (part.slice) {
      if (study && part.kind == PathPart::Kind::Work) row.cells[2] = time_cell(study->slack[part.slice.row()]);
      add_place(timeline, part.slice, part.kind == PathPart::Kind::Gap ? "gap before " : "", row);
      row.slice = SliceRef{*session.chosen(), part.slice};
    } else {
      row.cells.insert(row.cells.end(), {text_cell("gap at the end"), Cell{}, Cell{}});
    }
    row.cells.push_back(text_cell(words(name_of(part.certainty))));
    content.table.rows.push_back(std::move(row));
  }
  content.summary = QString("Of %1 on the critical path, <b>%2</b> are work (%3 communication) and <b>%4</b> gaps.")
                        .arg(words(work + gap), words(work), words(communication), words(gap));
  add_rest(content.table,
           run->report.critical_path.size() - std::min(run->report.critical_path.size(), content.table.rows.size()));
  if (!study) return content;  // it comes
  for (const std::uint32_t at : study->beside) {
    TableRow row;
    row.cells = {time_cell(timeline.slices()[at].duration), no_number, time_cell(study->slack[at]),
                 time_cell(timeline.slices()[at].start)};
    add_place(timeline, SliceId{at + 1}, "", row);
    row.cells.push_back(text_cell("beside the path"));
    row.slice = SliceRef{*session.chosen(), SliceId{at + 1}};
    content.table.rows.push_back(std::move(row));
  }
  // Peers on other ranks of what is on the path have none either.
  const auto next = std::ranges::find_if(study->beside, [&](std::uint32_t at) { return study->slack[at].count() > 0; });
  if (next != study->beside.end())
    content.summary += QString(" Beside it the least slack has %1 of rank %2: <b>%3</b>.")
                           .arg(words(cut(short_name(title_of(timeline, SliceId{*next + 1})), 40)).toHtmlEscaped())
                           .arg(timeline.track(timeline.slices()[*next].track).rank)
                           .arg(words(study->slack[*next]));
  return content;
}

}  // namespace stave::gui
