#include <fmt/format.h>

#include <algorithm>

#include "core/text/nearest.h"
#include "profiles/export/exporter.h"

namespace stave {
namespace {

constexpr Exporter export_table[] = {
    {"perfetto", "Perfetto protobuf, track events: ui.perfetto.dev", ".pftrace", export_perfetto},
    {"perfetto-gpu", "the same with GPU render stages for the streams", ".gpu.pftrace", export_perfetto_gpu},
    {"nsys", "the SQLite tables of Nsight Systems, schema 3.24.14", ".sqlite", export_nsys},
    {"chrome", "Chrome JSON: chrome://tracing, Perfetto", ".json", export_chrome},
    {"csv", "one row a slice", ".csv", export_csv},
    {"svg", "a picture", ".svg", export_svg},
};

}  // namespace

Result<void> count_arguments(RunCursor& run, ExportReport& report) {
  TRY(const std::int64_t count, run.args_count());
  if (count > 0) report.left_out["arguments of events"] = count;
  return {};
}

StepRanges::StepRanges(const RunCursor& run) {
  const TimeSpan window = run.filter().window;
  for (const StepSpan& step : run.head().steps())
    if (run.filter().has_rank(step.rank) && step.start < window.end && step.end > window.start)
      left_.emplace(step.rank, floor_ns(step.start), floor_ns(step.end));
}

void StepRanges::see(const SliceRow& row, const Track& track) {
  if (track.kind == TrackKind::Range && !left_.empty())
    left_.erase({track.rank, floor_ns(row.slice.start), floor_ns(row.slice.end())});
}

void StepRanges::count(ExportReport& report) const {
  if (!left_.empty()) report.left_out["steps without a range"] = static_cast<std::int64_t>(left_.size());
}

std::span<const Exporter> exporters() { return export_table; }

Result<const Exporter*> find_exporter(std::string_view name, const std::string& path) {
  const Exporter* found = nullptr;
  for (const Exporter& exporter : export_table) {
    if (!name.empty()) {
      if (exporter.name == name) return &exporter;
    } else if (path.ends_with(exporter.extension) &&
               (found == nullptr || exporter.extension.size() > found->extension.size())) {
      found = &exporter;
    }
  }
  if (found != nullptr) return found;
  std::string known;
  std::vector<std::string_view> names;
  for (const Exporter& exporter : export_table) {
    known += fmt::format("\n  {:13}{:14}{}", exporter.name, exporter.extension, exporter.summary);
    names.push_back(exporter.name);
  }
  if (!name.empty())
    return error_at({}, "STV0960", "no format '{}'{}; there are:{}", name, did_you_mean(name, names), known);
  return error_at({.file = path}, "STV0960", "its name does not say a format; name one with --format:{}", known);
}

}  // namespace stave
