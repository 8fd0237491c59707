#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {

TablePanel::Content critical_path_table(const Session& session) {
  TablePanel::Content content;
  content.empty = "Open a run, a trace or a schedule: this shows the chain of work and waiting that its end hangs on.";
  const RunPtr run = session.chosen_run();
  if (!run || run->report.critical_path.empty()) return content;
  const Timeline& timeline = *run->timeline;
  content.table.headers = {"Duration", "Share", "Start", "What", "Rank", "Where", "Known how"};
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
    row.cells = {std::move(duration), number_cell(share, QString("%1 %").arg(share, 0, 'f', 1)), time_cell(part.start)};
    if (part.slice) {
      const std::string_view title = title_of(timeline, part.slice);
      const Track& track = timeline.track(timeline.slice(part.slice).track);
      QString what = words(title);
      if (part.kind == PathPart::Kind::Gap) what.prepend("gap before ");
      row.cells.push_back({what, {}, {}, 0, false});
      row.cells.push_back(number_cell(track.rank, QString::number(track.rank)));
      row.cells.push_back({words(track.name), {}, {}, 0, false});
      row.slice = SliceRef{*session.chosen(), part.slice};
    } else {
      row.cells.insert(row.cells.end(), {Cell{"gap at the end", {}, {}, 0, false}, Cell{}, Cell{}});
    }
    // Of a recording only the order on a track is known without an edge.
    const bool by_order = part.certainty == Certainty::Predicted && run->info.kind != RunKind::Predicted;
    const std::string_view certainty = by_order ? "order on the track" : name_of(part.certainty);
    row.cells.push_back({words(certainty), {}, {}, 0, false});
    content.table.rows.push_back(std::move(row));
  }
  content.summary = QString("Of %1 on the critical path, <b>%2</b> are work (%3 communication) and <b>%4</b> gaps.")
                        .arg(words(work + gap), words(work), words(communication), words(gap));
  add_rest(content.table,
           run->report.critical_path.size() - std::min(run->report.critical_path.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
