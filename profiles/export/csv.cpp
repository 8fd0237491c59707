// CSV as RFC 4180 has it: CRLF, texts in quotes, quotes doubled. Text is as in
// the run, to the byte: a name that begins with "=" stays, and who opens the file in
// a spreadsheet reads it as text (docs/export.md).
#include <fmt/format.h>

#include "profiles/export/exporter.h"
#include "profiles/export/output_file.h"

namespace stave {
namespace {

constexpr std::string_view csv_header =
    "slice,rank,track_kind,track,device,stream,lane,start_ps,duration_ps,name,family,step,command,occurrence,"
    "correlation,graph,graph_node,grid,block,bytes,communicator,sequence,flags\r\n";

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_number(const auto& maybe) { return maybe ? fmt::format("{}", *maybe) : ""; }

std::string csv_dims(const std::optional<LaunchDims>& dims) {
  return dims ? fmt::format("{}x{}x{}", (*dims)[0], (*dims)[1], (*dims)[2]) : "";
}

}  // namespace

Result<ExportReport> export_csv(RunCursor& run, const ExportOptions&, const std::string& path, Progress* progress) {
  ExportReport report;
  TRY(OutputFile out, OutputFile::create(path));
  out << csv_header;
  const Timeline& head = run.head();
  TRY_VOID(run.slices(RunCursor::Order::Written, false, progress, [&](const SliceRow& row) -> Result<void> {
    const Slice& slice = row.slice;
    const Track& track = run.track(slice);
    ++report.slices;
    std::optional<std::int64_t> bytes;
    if (row.copy) bytes = row.copy->bytes;
    if (row.collective) bytes = row.collective->bytes;
    const std::optional<std::int64_t> graph = row.kernel ? row.kernel->graph : std::nullopt;
    std::optional<std::int64_t> node = row.kernel ? row.kernel->graph_node : std::nullopt;
    if (row.copy) node = row.copy->graph_node;
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},", row.id.value, track.rank, name_of(track.kind),
                       csv_quoted(track.name), csv_number(track.device), csv_number(track.stream), slice.lane,
                       slice.start.count(), slice.duration.count(), csv_quoted(row.name), name_of(slice.family));
    out << fmt::format("{},{},{},", slice.step ? fmt::format("{}", slice.step.value) : "",
                       slice.command ? csv_quoted(head.command(slice.command).key) : "", slice.occurrence);
    out << fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_number(row.correlation()), csv_number(graph),
                       csv_number(node), csv_dims(row.kernel ? row.kernel->grid : std::nullopt),
                       csv_dims(row.kernel ? row.kernel->block : std::nullopt), csv_number(bytes),
                       row.collective ? csv_quoted(head.text(row.collective->communicator)) : "",
                       row.collective ? fmt::format("{}", row.collective->sequence) : "", slice.flags);
    return {};
  }));
  TRY(const std::int64_t edges, run.flow_count());
  if (edges > 0) report.left_out["edges"] = edges;
  TRY_VOID(count_arguments(run, report));
  TRY_VOID(run.counters([&](const CounterSample&) -> Result<void> {
    ++report.left_out["samples of counters"];
    return {};
  }));
  TRY_VOID(out.close());
  return report;
}

}  // namespace stave
