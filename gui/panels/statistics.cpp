#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

void add_durations(const QString& name, const DurationSummary& d, double share, Table& table) {
  TableRow row;
  row.cells = {{name, {}, {}, 0, false}, number_cell(static_cast<double>(d.count), QString("%L1").arg(d.count)),
               time_cell(d.sum),         number_cell(share, QString("%1 %").arg(share, 0, 'f', 1)),
               time_cell(d.min),         time_cell(d.median),
               time_cell(d.p90),         time_cell(d.max)};
  table.rows.push_back(std::move(row));
}

}  // namespace

TablePanel::Content statistics_table(const Session& session) {
  TablePanel::Content content;
  content.empty =
      session.runs().empty()
          ? "Open a run, a trace or a schedule first."
          : "Select slices, or drag a range along the ruler or with Ctrl over rows, to see what they add up to.";
  const SelectionStatistics& s = session.statistics();
  if (s.durations.count == 0) {
    if (session.range()) content.empty = "No slice is in the selected stretch.";
    return content;
  }
  content.summary = QString("<b>%L1 %4</b> in %2 &nbsp; device busy <b>%3</b>")
                        .arg(s.durations.count)
                        .arg(words(s.stretch), words(s.busy), s.durations.count == 1 ? "slice" : "slices");
  if (s.communication.count() > 0)
    content.summary += QString(" &nbsp; communication <b>%1</b>, hidden %2, exposed <b>%3</b>")
                           .arg(words(s.communication), words(s.overlap), words(s.exposed));
  if (const std::optional<double> rate = s.bytes_per_s())
    content.summary +=
        QString(" &nbsp; %1 at <b>%2 GB/s</b>").arg(words(bytes_text(s.bytes))).arg(*rate / 1e9, 0, 'f', 1);
  content.table.headers = {"Name", "Count", "Sum", "Share", "Min", "Median", "p90", "Max"};
  const double sum = std::max<double>(1, static_cast<double>(s.durations.sum.count()));
  if (s.names.size() > 1) add_durations("all", s.durations, 100, content.table);
  for (const SelectionStatistics::Name& name : s.names) {
    if (content.table.rows.size() >= max_table_rows) break;
    add_durations(words(name.name), name.durations, 100 * static_cast<double>(name.durations.sum.count()) / sum,
                  content.table);
  }
  add_rest(content.table, s.names.size() - std::min(s.names.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
