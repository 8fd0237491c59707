#include "profiles/import/chakra_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/args_text.h"
#include "profiles/import/collective_rows.h"
#include "profiles/import/kineto_probe.h"

namespace stave {
namespace {

using chakra::NodeType;

// CollectiveCommType's numbers.
constexpr std::string_view collective_ops[] = {"all_reduce",     "reduce",    "all_gather", "gather",
                                               "scatter",        "broadcast", "all_to_all", "reduce_scatter",
                                               "reduce_scatter", "barrier"};

bool communicates(NodeType type) {
  return type == NodeType::send || type == NodeType::receive || type == NodeType::collective;
}

// What the node says of a collective, in the words of a kernel's arguments.
CollectiveArguments arguments_of(const ChakraNode& node) {
  CollectiveArguments out;
  const auto type = node.number("comm_type");
  if (node.type == NodeType::send)
    out.op = "send";
  else if (node.type == NodeType::receive)
    out.op = "recv";
  else if (type && *type >= 0 && *type < static_cast<std::int64_t>(std::size(collective_ops)))
    out.op = collective_ops[*type];
  else
    out.op = collective_op(node.name);
  out.communicator = node.text("pg_name");
  if (out.communicator.empty()) out.communicator = node.text("comm_group");
  if (out.communicator.empty()) out.communicator = "unnamed";
  out.bytes = node.number("comm_size");
  return out;
}

WideTime start_of(const ChakraNode& node) { return WideTime{*node.start_us} * ps_per_us; }
WideTime end_of(const ChakraNode& node) { return start_of(node) + WideTime{node.duration_us} * ps_per_us; }

}  // namespace

Result<void> probe_chakra(ByteSource& text, ChakraProbe& probe, ImportRank& rank, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read) {
  ChakraNodes nodes(text, probe.display, nullptr);
  ChakraNode node;
  TimeAge age;
  struct RawStep {
    std::uint32_t step;
    WideTime start, end;
  };
  std::vector<RawStep> steps;
  const auto look = [&]() -> Result<void> {
    while (true) {
      TRY(const bool more, nodes.next(node));
      if (!more) return {};
      if (++probe.nodes % 4096 == 0) TRY_VOID(show_progress(progress, bytes_read));
      probe.device_nodes += node.on_device();
      if (!node.start_us || node.type == NodeType::metadata) continue;
      ++probe.timed;
      age.add(start_of(node));
      if (const auto step = step_number(node.name)) steps.push_back({*step, start_of(node), end_of(node)});
      if (!node.on_device()) continue;
      if (!rank.info.device) rank.info.device = 0;
      if (!communicates(node.type)) continue;
      const CollectiveArguments said = arguments_of(node);
      CollectiveSpan span;
      span.said = true;
      span.start = start_of(node);
      span.end = end_of(node);
      rank.clock.collectives.add(said.communicator, said.op, span);
    }
  };
  // Also of a damaged archive: what was read before it.
  Result<void> looked = look();
  probe.version = nodes.version();
  probe.start = rank.clock.start = age.least();
  for (const RawStep& step : steps) {
    const auto from = since(probe.start, step.start), to = since(probe.start, step.end);
    if (from && to) rank.steps.push_back({step.step, *from, *to});
  }
  merge_steps(rank.steps);
  for (CollectiveSpan& span : rank.clock.collectives.spans)
    if (const auto from = since(probe.start, span.start)) span.step = step_at(rank.steps, *from).value;
  rank.step_label = "ProfilerStep#";
  return looked;
}

ChakraRows::ChakraRows(const ChakraProbe& probe, const ImportRank& rank, const ImportOptions& options, RowBatches& rows,
                       ProblemCounts& problems, ImportReport& report)
    : probe_(probe), rank_(rank), options_(options), rows_(rows), problems_(problems), report_(report) {}

void ChakraRows::count(const ProblemKind& kind, const ChakraNode& node) {
  problems_.count(kind, {.file = probe_.display, .byte = node.byte});
}

void ChakraRows::take(const ChakraNode& node) {
  if (node.type == NodeType::metadata) return;
  const std::optional<Time> time = node.start_us ? since(probe_.start, start_of(node)) : std::nullopt;
  if (!time) return count(problem_kinds::no_time, node);
  Slice slice{.start = *time + rank_.shift};
  if (const auto duration = lasting(end_of(node) - start_of(node))) {
    slice.duration = *duration;
  } else {  // a difference below 0, which has no sign here
    count(problem_kinds::negative_duration, node);
    slice.flags |= slice_flags::clamped;
  }
  slice.name = rows_.name(node.name.empty() ? "unnamed" : node.name);
  slice.step = step_at(rank_.steps, *time);
  const bool device = node.on_device();
  if (device)
    device_work(node, slice);
  else
    host_work(node, slice);
  const SliceId id = rows_.add(slice);
  if (options_.args) {
    ArgsText args;
    args.add("id", node.id);
    for (const auto& [name, value] : node.attributes) args.add_json(name, value);
    rows_.add(ArgsDetail{id, args.take()});
  }
  if (device && slice.family == Family::Memory) {
    ++report_.copies;
    CopyDetail copy{.slice = id, .memset = node.name.find("emset") != std::string_view::npos};
    if (!copy.memset) fill_copy_kinds(node.name, copy);
    copy.bytes = node.number("tensor_size");
    rows_.add(copy);
  } else if (device) {
    ++report_.kernels;
    rows_.add(KernelDetail{.slice = id});
    if (slice.family == Family::Collective) collective(node, id, slice);
  } else if (slice.family == Family::HostApi) {
    ++report_.calls;
    rows_.add(ApiDetail{.slice = id});
  }
  const Placed placed{id, slice.track, slice.start, slice.end(), device};
  nodes_[node.id] = placed;
  for (const std::uint64_t from : node.depends_on) {
    const auto at = nodes_.find(from);
    if (at == nodes_.end())
      later_.emplace_back(from, placed);
    else
      edge(at->second, placed);
  }
}

void ChakraRows::device_work(const ChakraNode& node, Slice& slice) {
  const bool moves = node.type == NodeType::load || node.type == NodeType::store || node.name.starts_with("Memcpy") ||
                     node.name.starts_with("Memset");
  slice.family = communicates(node.type) ? Family::Collective : moves ? Family::Memory : kernel_family(node.name);
  if (node.duration_us == 0) count(problem_kinds::zero_duration, node);
  // Of a kernel the thread is its stream, unless the stream is named.
  const std::int64_t stream = node.number("stream").value_or(node.number("tid").value_or(0));
  const StreamKey key{.rank = rank_.info.rank, .device = 0, .stream = stream};
  streams_.place(key, {}, slice, !moves, rows_);
  if (!node.depends_on.empty()) return;
  slice.flags |= slice_flags::orphan;
  ++report_.orphans;
  count(problem_kinds::orphan, node);
}

void ChakraRows::host_work(const ChakraNode& node, Slice& slice) {
  const bool call = node.name.starts_with("cuda") || node.name.starts_with("hip") || node.name.starts_with("cuLaunch");
  slice.family = call ? Family::HostApi : Family::Host;
  const std::int64_t thread = node.number("tid").value_or(0);
  const auto [at, added] = threads_.try_emplace(thread);
  if (added)
    at->second = rows_.add(Track{
        .rank = rank_.info.rank, .kind = TrackKind::Host, .name = fmt::format("thread {}", thread), .thread = thread});
  slice.track = at->second;
}

void ChakraRows::collective(const ChakraNode& node, SliceId id, const Slice& slice) {
  const WideTime own = WideTime{(slice.start - rank_.shift).count()} + rank_.clock.start;
  std::optional<CollectiveDetail> row = collective_row(rank_.clock, own, arguments_of(node), rows_);
  if (!row) return;
  row->slice = id;
  rows_.add(*row);
}

void ChakraRows::edge(const Placed& from, const Placed& to) {
  const bool launch = !from.device && to.device;
  if (!launch && from.track == to.track) return;  // order, or nesting, says it
  const FlowKind kind = launch ? FlowKind::Launch : !to.device ? FlowKind::Host : FlowKind::Event;
  const bool possible = launch                                  ? from.start <= to.start
                        : kind == FlowKind::Host && from.device ? from.end <= to.end
                                                                : from.end <= to.start;
  if (possible)
    rows_.add(SliceFlow{from.slice, to.slice, kind, Certainty::Recorded});
  else
    ++contradicted_;
}

void ChakraRows::finish() {
  for (const auto& [id, to] : later_) {
    const auto from = nodes_.find(id);
    if (from == nodes_.end())
      ++contradicted_;
    else
      edge(from->second, to);
  }
  const ProblemCounts::At file{.file = probe_.display};
  if (contradicted_ > 0) problems_.count(problem_kinds::bad_dependency, file, contradicted_);
  streams_.finish(probe_.display, problems_, report_);
  if (report_.kernels == 0) problems_.count(problem_kinds::no_kernels, file);
}

}  // namespace stave
