#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {

TablePanel::Content overview_table(const Session& session) {
  TablePanel::Content content;
  content.empty = "Open a run, a trace or a schedule: this shows where its time goes, rank by rank.";
  const RunPtr run = session.chosen_run();
  if (!run || run->report.ranks.empty()) return content;
  const Report& report = run->report;
  content.summary = QString("<b>%1</b> takes <b>%2</b>").arg(words(run->title).toHtmlEscaped(), words(report.makespan));
  if (const RankUse* worst = report.worst(); worst && worst->communication.count() > 0)
    content.summary +=
        QString("; of %1 communication %2 are hidden and <b>%3 exposed</b> (rank %4)")
            .arg(words(worst->communication), words(percent_text(percent(worst->overlap, worst->communication))),
                 words(worst->exposed_communication))
            .arg(worst->rank);
  if (report.step_median && report.steps.size() > 1)
    content.summary += QString("; %L1 steps, median %2").arg(report.steps.size()).arg(words(*report.step_median));
  content.table.headers = {"Rank", "Compute",    "Comm.",       "Hidden",        "Exposed",     "Waits", "Copies",
                           "Busy", "Idle: host", "Idle: event", "Idle: arrival", "Idle: other", "End"};
  for (const RankUse& use : report.ranks) {
    if (content.table.rows.size() >= max_table_rows) break;
    const auto part = [&](Picoseconds time, const QString& what) {
      Cell cell = time_cell(time);
      cell.tip = what + ": " + words(percent_text(percent(time, report.makespan))) + " of the run";
      return cell;
    };
    TableRow row;
    row.cells = {number_cell(use.rank, QString::number(use.rank)),
                 part(use.compute, "Kernels that compute"),
                 part(use.communication, "Collectives, sends and receives"),
                 number_cell(static_cast<double>(use.overlap.count()),
                             words(percent_text(percent(use.overlap, use.communication)))),
                 part(use.exposed_communication, "Communication that nothing hides"),
                 report.arrival_wait(use)
                     ? part(use.arrival_wait, "Collectives that waited for other ranks")
                     : Cell{.text = "-", .tip = "The run does not say how long collectives waited", .right = true},
                 part(use.copy, "Copies and memsets"),
                 part(use.busy, "The device worked"),
                 part(use.idle_host, "Idle, for a launch that came late"),
                 part(use.idle_event, "Idle, for work of another stream"),
                 part(use.idle_arrival, "Idle, for other ranks"),
                 part(use.idle_other, "Idle, for another reason"),
                 time_cell(use.end)};
    row.cells[3].tip = "Of the communication, the part with computation beside it";
    row.cells[4].shade = percent(use.exposed_communication, report.makespan).value_or(0) / 50;
    content.table.rows.push_back(std::move(row));
  }
  add_rest(content.table, report.ranks.size() - std::min(report.ranks.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
