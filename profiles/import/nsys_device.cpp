// Tables of device work: kernels, copies, memsets, graphs.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.h"
#include "profiles/import/copy_kinds.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/nsys_rows.h"

namespace stave {
namespace {

std::optional<std::uint32_t> small(const NsysRecord& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  const std::int64_t n = row.integer(column);
  if (n < 0 || n > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(n);
}

std::optional<LaunchDims> dims(const NsysRecord& row, int column) {
  const auto x = small(row, column), y = small(row, column + 1), z = small(row, column + 2);
  return x && y && z ? std::optional(LaunchDims{*x, *y, *z}) : std::nullopt;
}

// Columns that no field of a detail has, as JSON.
class ExtraColumns {
 public:
  ExtraColumns(std::span<const std::string_view> columns, std::size_t from) : from_(static_cast<int>(from)) {
    for (std::size_t i = from; i < columns.size(); ++i) keys_.push_back(fmt::format("\"{}\": ", columns[i]));
  }

  // "" if all are NULL or empty.
  std::string json(const NsysRecord& row) const {
    std::string out;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const int column = from_ + static_cast<int>(i);
      const bool integer = row.is_integer(column);
      const std::string_view text = row.text(column);
      if (!integer && text.empty()) continue;
      out += out.empty() ? "{" : ", ";
      out += keys_[i];
      if (integer) {
        const fmt::format_int digits(row.integer(column));
        out.append(digits.data(), digits.size());
      } else {
        out += json_quoted(text);
      }
    }
    if (!out.empty()) out += '}';
    return out;
  }

 private:
  int from_;
  std::vector<std::string> keys_;
};

std::string copy_name(std::optional<std::uint32_t> kind) {
  const bool known = kind && *kind > 0 && *kind < std::size(copy_kinds);
  return known ? fmt::format("Memcpy {}", copy_kinds[*kind]) : "Memcpy";
}

}  // namespace

NsysRows::Columns NsysRows::device_columns(std::initializer_list<std::string_view> own) {
  Columns columns{"start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId", "graphNodeId"};
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

NsysRows::Stream& NsysRows::stream(const StreamKey& key) {
  const auto [at, added] = streams_.try_emplace(key);
  if (added) {
    const auto& [process, device, context, number] = key;
    at->second.track = rows_.add(Track{.rank = ranks_[process],
                                       .kind = TrackKind::Stream,
                                       .name = fmt::format("GPU {} stream {}", device, number),
                                       .device = device,
                                       .context = context,
                                       .stream = number});
  }
  return at->second;
}

const std::pair<const NsysRows::StreamKey, NsysRows::Stream>* NsysRows::working_stream(const StreamKey& key) const {
  const auto same = [&](const auto& at) {
    return std::get<0>(at.first) == std::get<0>(key) && std::get<2>(at.first) == std::get<2>(key) &&
           std::get<3>(at.first) == std::get<3>(key);
  };
  const auto at = std::find_if(streams_.begin(), streams_.end(), same);
  return at == streams_.end() ? nullptr : &*at;
}

// Device, context and stream; CUPTI has 32 bits for each, and some exports have signs.
bool NsysRows::names_a_stream(const NsysRecord& row) {
  constexpr std::int64_t most = std::int64_t{1} << 32;
  for (int column = 3; column < 6; ++column) {
    const std::optional<std::int64_t> number = row.number(column);
    if (!row.is_null(column) && (!number || *number < -most || *number > most)) return false;
  }
  return true;
}

std::optional<NsysRows::Placed> NsysRows::place(const NsysRecord& row, bool kernel) {
  NsysProcess& process = file_.process(row.maybe_integer(2));
  if (!names_a_stream(row)) {
    count(problem_kinds::bad_row);
    return std::nullopt;
  }
  Placed placed{.process = position(process), .on = {}};
  const auto span = this->span(row, placed.process, placed.slice.flags);
  if (!span) return std::nullopt;
  placed.slice.start = span->first;
  placed.slice.duration = span->second;
  if (span->second.count() == 0 && placed.slice.flags == 0) count(problem_kinds::zero_duration);
  placed.on = {placed.process, row.integer(3), row.integer(4), row.integer(5)};
  Stream& on = stream(placed.on);
  placed.slice.track = on.track;
  placed.slice.lane = on.lanes.place(placed.slice.start, placed.slice.duration, kernel);
  placed.correlation = row.maybe_integer(6);
  placed.launch = placed.correlation ? process.launch(*placed.correlation) : nullptr;
  if (placed.launch == nullptr) {
    placed.slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan);
  } else if (placed.launch->start > placed.slice.start - shifts_[placed.process]) {
    count(problem_kinds::before_launch);
  }
  placed.slice.step =
      process.step_at(placed.launch != nullptr ? placed.launch->start : placed.slice.start - shifts_[placed.process]);
  return placed;
}

SliceId NsysRows::add(const Placed& placed) {
  const SliceId id = rows_.add(placed.slice);
  if (placed.launch == nullptr) return id;
  rows_.add(SliceFlow{placed.launch->slice, id, FlowKind::Launch, Certainty::Recorded});
  host_waits_[placed.process].offer(id, placed.launch->start + shifts_[placed.process], placed.slice.start,
                                    placed.slice.end());
  if (has_waits_) {
    issued_.push_back({placed.slice.track, id, placed.slice.start, placed.slice.end(),
                       placed.launch->start + shifts_[placed.process]});
    stream_of_launch_.try_emplace({placed.process, placed.launch->correlation}, placed.on);
  }
  return id;
}

Result<void> NsysRows::kernels() {
  Columns columns = device_columns({"shortName", "demangledName", "mangledName", "graphId", "gridX", "gridY", "gridZ",
                                    "blockX", "blockY", "blockZ", "clusterX", "clusterY", "clusterZ",
                                    "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"});
  const std::size_t own = columns.size();
  for (const std::string_view more :
       {"greenContextId", "launchType", "cacheConfig", "localMemoryPerThread", "localMemoryTotal", "gridId",
        "sharedMemoryExecuted", "sharedMemoryLimitConfig", "clusterSchedulingPolicy", "maxPotentialClusterSize",
        "maxActiveClusters", "sharedMemoryRequestedPercentage", "priority"})
    if (file_.tables().has("CUPTI_ACTIVITY_KIND_KERNEL", more)) columns.push_back(more);
  const ExtraColumns extras(columns, own);
  NsysText texts[3];
  return each("CUPTI_ACTIVITY_KIND_KERNEL", columns, [&](const NsysRecord& row) {
    std::optional<Placed> placed = place(row, true);
    if (!placed) return;
    NsysText* names[3];
    for (int i = 0; i < 3; ++i) names[i] = &file_.text(row, first_own + i, texts[i]);
    NsysText& demangled = *names[1];
    NsysText& name = *names[!names[0]->text.empty() ? 0 : !demangled.text.empty() ? 1 : 2];
    placed->slice.name = name_of(name, "kernel");
    placed->slice.family = (demangled.text.empty() ? name : demangled).kernel_family();
    const SliceId id = add(*placed);
    ++report_.kernels;
    KernelDetail detail{.slice = id, .correlation = placed->correlation};
    detail.graph = row.maybe_integer(first_own + 3);
    detail.graph_node = row.maybe_integer(7);
    detail.grid = dims(row, first_own + 4);
    detail.block = dims(row, first_own + 7);
    detail.cluster = dims(row, first_own + 10);
    detail.registers_per_thread = small(row, first_own + 13);
    detail.static_shared_bytes = small(row, first_own + 14);
    detail.dynamic_shared_bytes = small(row, first_own + 15);
    if (!demangled.text.empty()) detail.demangled_name = name_of(demangled, "");
    rows_.add(detail);
    if (options_.args)
      if (std::string json = extras.json(row); !json.empty()) rows_.add(ArgsDetail{id, std::move(json)});
    if (placed->slice.family != Family::Collective) return;
    const WideTime start = row.integer(0) * ps_per_ns;
    const std::string_view op = collective_op(name.text);
    const Collectives& all = clocks_[placed->process].collectives;
    const std::deque<CollectiveSpan>& spans = all.spans;
    auto span = std::lower_bound(spans.begin(), spans.end(), start,
                                 [](const CollectiveSpan& one, WideTime time) { return one.start < time; });
    for (; span != spans.end() && span->start == start; ++span) {
      if (!span->matched || all.texts[span->op] != op) continue;
      CollectiveDetail found{.slice = id};
      found.communicator = rows_.name("unnamed");
      found.sequence = span->sequence;
      found.op = rows_.name(op.empty() ? "collective" : op);
      found.arrival_wait = span->arrival_wait;
      found.transfer = span->transfer;
      found.matched_by = span->matched_by;
      rows_.add(found);
      break;
    }
  });
}

Result<void> NsysRows::copies(bool memset) {
  const Columns columns =
      memset ? device_columns({"bytes", "value", "memKind"})
             : device_columns({"bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"});
  return each(
      memset ? "CUPTI_ACTIVITY_KIND_MEMSET" : "CUPTI_ACTIVITY_KIND_MEMCPY", columns, [&](const NsysRecord& row) {
        std::optional<Placed> placed = place(row, false);
        if (!placed) return;
        CopyDetail copy{.memset = memset, .correlation = placed->correlation};
        copy.graph_node = row.maybe_integer(7);
        copy.bytes = row.maybe_integer(first_own);
        if (memset) {
          copy.memset_value = small(row, first_own + 1);
          copy.destination_kind = small(row, first_own + 2);
        } else {
          copy.copy_kind = small(row, first_own + 1);
          copy.source_kind = small(row, first_own + 2);
          copy.destination_kind = small(row, first_own + 3);
          copy.source_device = small(row, first_own + 4);
          copy.destination_device = small(row, first_own + 5);
        }
        placed->slice.name = rows_.name(memset ? std::string("Memset") : copy_name(copy.copy_kind));
        placed->slice.family = Family::Memory;
        copy.slice = add(*placed);
        ++report_.copies;
        rows_.add(copy);
        if (memset || placed->launch == nullptr) return;
        std::vector<SliceFlow> waited;
        copy_waits_[placed->process].copy(*placed->correlation, copy.slice, placed->slice.start, placed->slice.end(),
                                          copy.destination_kind == pageable_memory, waited);
        inferred(waited);
      });
}

Result<void> NsysRows::graph_launches() {
  return each(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", device_columns({"graphId", "graphExecId"}), [&](const NsysRecord& row) {
        std::optional<Placed> placed = place(row, false);
        if (!placed) return;
        placed->slice.name = rows_.name(fmt::format("CUDA graph {}", row.integer(first_own)));
        placed->slice.family = Family::Compute;
        const SliceId id = add(*placed);
        ++graph_launches_;
        rows_.add(KernelDetail{.slice = id, .correlation = placed->correlation, .graph = row.maybe_integer(first_own)});
      });
}

}  // namespace stave
