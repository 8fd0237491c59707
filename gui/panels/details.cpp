#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

#include "analysis/slack.h"
#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

class DetailRows {
 public:
  explicit DetailRows(Table& table) : table_(table) {}

  void row(const QString& name, QString value, std::optional<SliceRef> slice = {}) {
    TableRow row;
    row.cells = {{name, {}, {}, 0, false}, {std::move(value), {}, {}, 0, false}};
    row.slice = slice;
    table_.rows.push_back(std::move(row));
  }
  void row(const QString& name, std::string_view value, std::optional<SliceRef> slice = {}) {
    if (!value.empty()) row(name, words(value), slice);
  }
  void time(const QString& name, Picoseconds value) { row(name, duration_text(value)); }
  template <class T>
  void number(const QString& name, const std::optional<T>& value) {
    if (value) row(name, QString("%L1").arg(static_cast<qlonglong>(*value)));
  }
  void bytes(const QString& name, const std::optional<std::int64_t>& value) {
    if (value) row(name, bytes_text(*value));
  }
  void dims(const QString& name, const std::optional<LaunchDims>& value) {
    if (value) row(name, QString("%1 x %2 x %3").arg((*value)[0]).arg((*value)[1]).arg((*value)[2]));
  }

 private:
  Table& table_;
};

void add_collective(const Timeline& timeline, const CollectiveDetail& collective, DetailRows& rows) {
  rows.row("Collective", QString("%1, %2 ranks, number %3 of communicator %4")
                             .arg(words(timeline.text(collective.op)))
                             .arg(collective.ranks)
                             .arg(collective.sequence)
                             .arg(words(timeline.text(collective.communicator))));
  rows.bytes("Bytes", collective.bytes);
  if (collective.arrival_wait) rows.time("Waited for other ranks", *collective.arrival_wait);
  if (collective.transfer) rows.time("Moved data", *collective.transfer);
  rows.row("Algorithm", timeline.text(collective.algorithm));
  rows.row("Protocol", timeline.text(collective.protocol));
  rows.number("Channels", collective.channels);
}

void add_args(const std::string& json, DetailRows& rows) {
  const QJsonObject object = QJsonDocument::fromJson(QByteArray::fromStdString(json)).object();
  int shown = 0;
  for (auto at = object.begin(); at != object.end() && shown < 60; ++at, ++shown) {
    const QJsonValue& value = at.value();
    QString text = value.toVariant().toString();
    if (value.isObject()) text = QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact);
    if (value.isArray()) text = QJsonDocument(value.toArray()).toJson(QJsonDocument::Compact);
    rows.row(at.key(), text.left(400));
  }
}

void add_flows(const Run& run, SliceRef slice, DetailRows& rows) {
  const Timeline& timeline = *run.timeline;
  const auto title = [&](SliceId id, const SliceFlow& flow) {
    const Slice& other = timeline.slice(id);
    return QString("%1 on %2 (%3, %4)")
        .arg(words(title_of(timeline, id)), words(timeline.track(other.track).name), words(name_of(flow.kind)),
             words(name_of(flow.certainty)));
  };
  int shown = 0;
  for (const std::uint32_t at : run.index->inflows(slice.slice)) {
    const SliceFlow& flow = timeline.flows()[at];
    if (++shown > 20) break;
    rows.row("Waits for", title(flow.from, flow), SliceRef{slice.run, flow.from});
  }
}

}  // namespace

TablePanel::Content details_of(const Session& session) {
  TablePanel::Content content;
  content.empty = session.runs().empty() ? "Open a run, a trace or a schedule first."
                                         : "Click a slice of the timeline to see all that is known about it.";
  const std::optional<SliceRef> current = session.current();
  if (!current) return content;
  const Run& run = *session.run(current->run);
  const Timeline& timeline = *run.timeline;
  const Slice& slice = timeline.slice(current->slice);
  const Track& track = timeline.track(slice.track);
  content.table.headers = {"What", "Value"};
  DetailRows rows(content.table);
  rows.row("Name", timeline.text(slice.name));
  if (slice.command) {
    const TimelineCommand& command = timeline.command(slice.command);
    rows.row("Command", command.key);
    if (command.line > 0) rows.row("Line of the schedule", QString::number(command.line));
    if (command.flops && slice.duration.count() > 0)
      rows.row("Rate",
               QString("%1 TFLOP/s")
                   .arg(static_cast<double>(*command.flops) / static_cast<double>(slice.duration.count()), 0, 'f', 1));
  }
  rows.row("Family", name_of(slice.family));
  rows.time("Start", slice.start + session.shift(current->run));
  rows.time("Duration", slice.duration);
  const std::shared_ptr<const RunStudy> study = session.study(run);
  if (const Picoseconds slack = study ? study->slack[current->slice.row()] : no_slack; slack != no_slack)
    rows.row("Slack", slack.count() > 0 ? words(slack) + " longer would not move the end"
                                        : QString("none: the end hangs on it"));
  if (const std::optional<SliceRef> partner = session.partner_of(*current)) {
    const Run& other = *session.run(partner->run);
    const Slice& there = other.timeline->slice(partner->slice);
    const Picoseconds delta = slice.duration - there.duration;
    rows.row("In " + words(other.title),
             QString("%1 (here %2%3)").arg(words(there.duration), delta.count() > 0 ? "+" : "", words(delta)),
             *partner);
  }
  rows.row("Where", QString("rank %1, %2").arg(track.rank).arg(words(track.name)));
  if (session.runs().size() > 1) rows.row("Run", run.title);
  for (const CostPart& part : timeline.costs(current->slice)) {
    QString value = words(part.duration);
    if (part.low && part.high) value += QString(" (%1 to %2)").arg(words(*part.low), words(*part.high));
    if (!timeline.text(part.source).empty()) value += " - " + words(timeline.text(part.source));
    rows.row("Part: " + words(timeline.text(part.part)), value);
  }
  if (const CollectiveDetail* collective = timeline.collective(current->slice))
    add_collective(timeline, *collective, rows);
  if (const KernelDetail* kernel = timeline.kernel(current->slice)) {
    rows.dims("Grid", kernel->grid);
    rows.dims("Block", kernel->block);
    rows.dims("Cluster", kernel->cluster);
    rows.number("Registers a thread", kernel->registers_per_thread);
    if (kernel->static_shared_bytes || kernel->dynamic_shared_bytes)
      rows.bytes("Shared memory a block",
                 std::int64_t{kernel->static_shared_bytes.value_or(0)} + kernel->dynamic_shared_bytes.value_or(0));
    rows.number("Graph", kernel->graph);
    rows.number("Correlation", kernel->correlation);
    rows.row("Demangled", timeline.text(kernel->demangled_name));
  }
  if (const CopyDetail* copy = timeline.copy(current->slice)) {
    rows.bytes("Bytes", copy->bytes);
    if (copy->bytes && slice.duration.count() > 0)
      rows.row("Rate",
               QString("%1 GB/s").arg(
                   static_cast<double>(*copy->bytes) * 1000 / static_cast<double>(slice.duration.count()), 0, 'f', 1));
    rows.number("Correlation", copy->correlation);
  }
  if (const ApiDetail* call = timeline.call(current->slice)) {
    rows.number("Returned", call->return_value);
    rows.number("Correlation", call->correlation);
  }
  if ((slice.flags & slice_flags::extrapolated) != 0) rows.row("Note", QString("outside the machine's tables"));
  if ((slice.flags & slice_flags::orphan) != 0) rows.row("Note", QString("its launch was not recorded"));
  if ((slice.flags & slice_flags::clamped) != 0) rows.row("Note", QString("its times were put right by the importer"));
  if ((slice.flags & slice_flags::guessed_command) != 0)
    rows.row("Note", QString("its command was found by name and order"));
  add_flows(run, *current, rows);
  if (const ArgsDetail* args = timeline.args(current->slice)) add_args(args->json, rows);
  if (session.selection().size() > 1)
    content.summary =
        QString("The first of %L1 selected slices; Statistics has their sums.").arg(session.selection().size());
  return content;
}

}  // namespace stave::gui
