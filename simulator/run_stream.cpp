// Streams: what they hold runs in order; a record says when all before it is
// done, a wait holds what comes after.
#include <algorithm>

#include "simulator/run.h"

namespace stave::simulator {
namespace {

// CUPTI's numbers of directions and kinds of memory.
constexpr std::uint32_t host_to_device = 1, device_to_host = 2, device_to_device = 8, host_to_host = 9;
constexpr std::uint32_t pinned_memory = 1, device_memory = 2;

// None for what is no copy and no memset.
std::optional<CopyDetail> copy_of(const Expanded& expanded, const Command& command) {
  const bool copy = std::holds_alternative<Copy>(command.payload);
  const auto* const memset = std::get_if<Memset>(&command.payload);
  if (!copy && memset == nullptr && !std::holds_alternative<Memzero>(command.payload)) return std::nullopt;
  const auto on_host = [&](const View& view) { return expanded.buffers[view.buffer].space == Space::Host; };
  const View& to = expanded[command.results[0]];
  CopyDetail detail{.memset = !copy, .bytes = to.bytes};
  detail.destination_kind = on_host(to) ? pinned_memory : device_memory;
  if (!copy) {
    if (memset == nullptr) detail.memset_value = 0;
    return detail;
  }
  const bool from_host = on_host(expanded[command.operands[0]]);
  detail.source_kind = from_host ? pinned_memory : device_memory;
  detail.copy_kind =
      from_host ? (on_host(to) ? host_to_host : host_to_device) : (on_host(to) ? device_to_host : device_to_device);
  if (!from_host) detail.source_device = 0;  // the recorder fills in the rank's
  if (!on_host(to)) detail.destination_device = 0;
  return detail;
}

}  // namespace

void Run::wake_at(RankState& rank, std::uint32_t stream, std::int64_t time) {
  Stream& s = rank.streams[stream];
  if (s.wake >= 0 && s.wake <= time) return;
  s.wake = time;
  events_.push({time, StreamWake, rank.first_stream + stream});
}

void Run::advance_stream(std::uint32_t rank_id, std::uint32_t stream_id, std::int64_t now) {
  RankState& rank = ranks_[rank_id];
  while (true) {
    Stream& stream = rank.streams[stream_id];
    if (stream.running || stream.comm_waiting != none) return;
    if (stream.empty()) {
      stream_idle(rank, rank_id, stream_id, now);
      return;
    }
    Item& item = stream.items[stream.head];
    if (item.issued > now) {
      wake_at(rank, stream_id, item.issued);
      return;
    }
    if (item.kind == Item::Kind::Record) {
      Occurrence& event = rank.occurrences[item.ref];
      event.time = std::max(stream.end, item.issued);
      event.slice = stream.last_slice;
      ++stream.head;
      std::vector<std::uint32_t> streams;
      streams.swap(event.streams);
      for (const std::uint32_t s : streams) wake_at(rank, s, now);
      continue;
    }
    if (item.kind == Item::Kind::Wait) {
      Occurrence& event = rank.occurrences[item.ref];
      if (event.time < 0) {
        if (std::find(event.streams.begin(), event.streams.end(), stream_id) == event.streams.end())
          event.streams.push_back(stream_id);
        return;
      }
      if (event.stream != stream_id) {
        // An event that was over before the wait was issued costs nothing more.
        if (event.time + stream_gap_ > stream.ready) stream.ready = event.time + stream_gap_;
        if (event.slice != 0) stream.flows.push_back(event.slice);
      }
      stream.end = std::max(stream.end, event.time);
      ++stream.head;
      continue;
    }
    const std::int64_t eligible = std::max(item.issued, stream.ready);
    if (eligible > now) {
      wake_at(rank, stream_id, eligible);
      return;
    }
    if (item.kind == Item::Kind::Graph) {
      stream.running = true;
      GraphRun run;
      run.rank = rank_id;
      run.graph = item.ref;
      run.stream = stream_id;
      run.host_slice = item.host_slice;
      ++stream.head;
      start_graph(std::move(run), now, 0);
      return;
    }
    Launch launch;
    launch.rank = rank_id;
    launch.stream = stream_id;
    launch.command = item.ref;
    launch.occurrence = item.occurrence;
    launch.host_slice = item.host_slice;
    launch.eligible = eligible;
    if (item.ticket != none) {
      launch.comm = comm_of(rank_id, item.ref);
      Comm& comm = rank.comms[launch.comm];
      if (comm.serving != item.ticket) {
        comm.waiting[item.ticket] = stream_id;
        stream.comm_waiting = launch.comm;
        return;
      }
      if (comm.ready > now) {
        stream.ready = std::max(stream.ready, comm.ready);
        continue;
      }
    }
    launch.flows.swap(stream.flows);
    ++stream.head;
    stream.running = true;
    begin(std::move(launch), now);
    return;
  }
}

void Run::stream_idle(RankState& rank, std::uint32_t, std::uint32_t stream_id, std::int64_t now) {
  Stream& stream = rank.streams[stream_id];
  if (stream.waiting_hosts.empty()) return;
  std::vector<std::uint32_t> lanes;
  lanes.swap(stream.waiting_hosts);
  for (const std::uint32_t lane : lanes) events_.push({now, HostWake, lane});
}

void Run::begin(Launch&& launch, std::int64_t now) {
  const RankState& rank = ranks_[launch.rank];
  if (is_collective(rank.rank_class, launch.command)) {
    begin_collective(std::move(launch), now);
    return;
  }
  const Costed& costed = costs_.of(rank.rank_class, CommandId{launch.command});
  begin_here(std::move(launch), costed, now);
}

// A command of this device alone.
void Run::begin_here(Launch&& launch, const Costed& costed, std::int64_t now) {
  RankState& rank = ranks_[launch.rank];
  const Order order{rank.streams[launch.stream].priority, launch.eligible, launch.stream, launch.command};
  uses_.clear();
  topology_.local_uses(launch.rank, costed.amounts, 1, uses_);
  rank.energy.products_uj += costed.demand.energy_uj;
  launch.costed = &costed;
  OpId op;
  if (costed.demand.where == Where::CopyEngine) {
    ActivityId activity = engine_.open_gang({&launch.rank, 1}, costed.spec, uses_, now);
    op = engine_.join(launch.rank, order, Room::CopyEngine, {}, 1, {&activity, 1}, now);
  } else {
    op = engine_.start_kernel(launch.rank, order, costed.demand.footprint, costed.spec, uses_, now);
  }
  if (launches_.size() <= op) launches_.resize(op + 1);
  launches_[op] = std::move(launch);
}

void Run::emit(const OpState& op, Launch& launch, std::int64_t now) {
  RankState& rank = ranks_[launch.rank];
  Recorder::Row row;
  row.colour = launch.rank;
  row.track = record_.stream_track(launch.stream);
  row.start = op.started;
  row.end = now;
  row.name = record_.op_name(rank.rank_class, launch.command);
  row.command = launch.command;
  row.step = rank.step;
  row.occurrence = launch.occurrence;
  row.family = launch.costed ? launch.costed->demand.family : Family::Collective;
  row.flags = launch.costed ? launch.costed->slice_flags : 0;
  const std::uint32_t slice = record_.add(row);
  record_.flow(launch.rank, launch.host_slice, launch.rank, slice,
               launch.graph_run == none ? FlowKind::Launch : FlowKind::Graph);
  for (const std::uint32_t from : launch.flows) record_.flow(launch.rank, from, launch.rank, slice, launch.flow_kind);

  if (op.waited_for.op != none && op.started > launch.eligible)
    if (const std::uint32_t from = launch.room_from != 0 ? launch.room_from : ended_slice(op.waited_for); from != 0)
      record_.flow(launch.rank, from, launch.rank, slice, FlowKind::Room);

  const Expanded& expanded = *rank.expanded;
  if (std::optional<CopyDetail> detail = copy_of(expanded, expanded[CommandId{launch.command}])) {
    detail->slice = SliceId{slice};
    record_.copy(launch.rank, *detail);
  }
  const auto copies = static_cast<std::int64_t>(folding_.ranks[launch.rank].size());
  ++executed_;
  summary_.instances_count += copies;
  if (launch.costed) {
    if (launch.costed->demand.extrapolated) summary_.extrapolated_count += copies;
    if (launch.costed->demand.assumed) summary_.assumed_count += copies;
  }
  rank.end = std::max(rank.end, now);
  if (op.started > launch.eligible && op.room == Room::Sms) {
    std::uint64_t x = (std::uint64_t{rank.rank} << 44) ^ (std::uint64_t{launch.command} << 20) ^ launch.occurrence;
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
    summary_.race_signature += x ^ (x >> 29);
  }
  if (launch.comm != none) emit_parts(op, launch, slice, now);
  if (!launch.transfers.empty()) end_transfers(launch, slice);
  launch.host_slice = slice;  // for those who go on from here
}

void Run::end_launch(OpId op, std::int64_t now) {
  Launch launch = std::move(launches_[op]);
  emit(engine_.op(op), launch, now);
  if (ended_.size() <= op) ended_.resize(launches_.size());
  ended_[op] = {engine_.op(op).run, launch.host_slice};
  engine_.release(op);
  RankState& rank = ranks_[launch.rank];
  if (launch.comm != none) {
    Comm& comm = rank.comms[launch.comm];
    ++comm.serving;
    comm.ready = now + stream_gap_;
    if (const auto at = comm.waiting.find(comm.serving); at != comm.waiting.end()) {
      rank.streams[at->second].comm_waiting = none;
      wake_at(rank, at->second, now);
      comm.waiting.erase(at);
    }
  }
  if (launch.graph_run != none) {
    graph_runs_[launch.graph_run].slices[launch.node] = launch.host_slice;
    node_done(launch.graph_run, launch.node, now);
    return;
  }
  stream_op_done(launch.rank, launch.stream, launch.host_slice, now);
}

void Run::stream_op_done(std::uint32_t rank_id, std::uint32_t stream_id, std::uint32_t slice, std::int64_t now) {
  Stream& stream = ranks_[rank_id].streams[stream_id];
  stream.running = false;
  stream.end = now;
  stream.ready = std::max(stream.ready, now + kernel_gap_);
  stream.last_slice = slice;
  advance_stream(rank_id, stream_id, now);
}

}  // namespace stave::simulator
