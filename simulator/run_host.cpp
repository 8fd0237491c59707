// Host lanes: each call costs time; launches go ahead of the device until
// something makes the host wait.
#include <algorithm>

#include "simulator/run.h"

namespace stave::simulator {
namespace {

// A host that runs ahead comes back to the queue after this many actions, so that
// what it holds in the streams stays small.
constexpr int actions_at_once = 256;

// SplitMix64 (Steele, Lea, Flood 2014): one well-mixed number for each call.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

// Jitter: up to a tenth more, by (seed, rank, lane, number of the call). Chosen;
// the spread of launch costs on the measured host is 7 %.
std::int64_t Run::pay(Lane& lane, std::int64_t cost) {
  if (options_.jitter_seed) {
    const std::uint64_t key =
        (std::uint64_t{ranks_[lane.rank].rank} << 40) ^ (std::uint64_t{lane.index} << 32) ^ lane.calls++;
    const std::uint64_t part = mixed(*options_.jitter_seed ^ mixed(key)) >> 40;  // 24 bits
    cost += static_cast<std::int64_t>(static_cast<unsigned __int128>(cost) * part / (std::uint64_t{10} << 24));
  }
  lane.clock += cost;
  return cost;
}

std::uint32_t Run::host_slice(Lane& lane, std::int64_t start, StringId name, std::uint32_t command, Family family) {
  if (!options_.host_slices) return 0;
  const RankState& rank = ranks_[lane.rank];
  Recorder::Row row;
  row.colour = lane.rank;
  row.track = record_.host_track(lane.rank, lane.index);
  row.start = start;
  row.end = lane.clock;
  row.name = name;
  row.command = command;
  row.step = rank.step;
  row.family = family;
  return record_.add(row);
}

std::int64_t Run::call_cost(const RankState& rank, std::uint32_t command) {
  const auto& host = machine_.host;
  if (is_collective(rank.rank_class, command)) return picoseconds_of(host.collective_launch_ps).count();
  switch (costs_.of(rank.rank_class, CommandId{command}).demand.call) {
    case HostCall::HostCopy: return picoseconds_of(host.copy_ps).count();
    case HostCall::DeviceCopy: return picoseconds_of(host.copy_device_ps).count();
    case HostCall::Memset: return picoseconds_of(host.memset_ps).count();
    case HostCall::Collective: return picoseconds_of(host.collective_launch_ps).count();
    case HostCall::Gemm: {
      // The profiler's part comes on top of the library's.
      const std::int64_t more = (picoseconds_of(host.launch_observed_ps) - picoseconds_of(host.launch_ps)).count();
      return picoseconds_of(host.gemm_launch_ps).count() +
             (options_.observer_cupti ? std::max<std::int64_t>(more, 0) : 0);
    }
    case HostCall::Kernel: break;
  }
  return picoseconds_of(options_.observer_cupti ? host.launch_observed_ps : host.launch_ps).count();
}

void Run::push_item(RankState& rank, std::uint32_t stream, const Item& item, std::int64_t now) {
  Stream& s = rank.streams[stream];
  const bool first = s.empty() && !s.running;
  if (s.empty()) {
    s.items.clear();
    s.head = 0;
  }
  s.items.push_back(item);
  if (first) wake_at(rank, stream, std::max(item.issued, now));
}

void Run::run_lane(std::uint32_t id, std::int64_t now) {
  Lane& lane = lanes_[id];
  if (lane.state == Lane::State::Done || lane.state == Lane::State::Waiting) return;
  lane.state = Lane::State::Running;
  lane.clock = std::max(lane.clock, now);
  const RankState& rank = ranks_[lane.rank];
  const auto& actions = rank.program->actions;
  const IdRange<Action> mine = rank.program->hosts[HostId{lane.index}].actions;
  // Lanes that share a rank's events take turns in time order.
  const int limit = rank.lanes.size() > 1 ? 1 : actions_at_once;
  for (int i = 0; i < limit; ++i) {
    if (lane.pc == mine.first + mine.count) {
      lane_done(lane);
      return;
    }
    const Action& action = actions[ActionId{lane.pc}];
    if (!perform(lane, action, now)) return;
  }
  events_.push({lane.clock, HostWake, id});
}

// False: the lane waits, and comes back to this action or to the next.
bool Run::perform(Lane& lane, const Action& action, std::int64_t now) {
  RankState& rank = ranks_[lane.rank];
  const auto& host = machine_.host;
  const std::int64_t start = lane.clock;
  const std::uint32_t stream = action.stream.value;
  const std::uint32_t command = action.command ? action.command.value : no_command;
  switch (action.kind) {
    case Action::Kind::Launch: {
      if (!delays_.empty())
        if (const auto at = delays_.find({lane.rank, command}); at != delays_.end() && at->second > lane.clock) {
          lane.clock = at->second;
          events_.push({lane.clock, HostWake, static_cast<std::uint32_t>(&lane - lanes_.data())});
          return false;
        }
      pay(lane, call_cost(rank, command));
      Item item;
      item.kind = Item::Kind::Launch;
      item.issued = lane.clock;
      item.ref = command;
      item.occurrence = count(rank, command);
      item.host_slice = host_slice(lane, start, names_.launch, command, Family::HostApi);
      if (is_collective(rank.rank_class, command)) item.ticket = rank.comms[comm_of(lane.rank, command)].next_ticket++;
      push_item(rank, stream, item, now);
      break;
    }
    case Action::Kind::Record: {
      pay(lane, picoseconds_of(host.event_record_ps).count());
      rank.event_now[action.event.value] = static_cast<std::uint32_t>(rank.occurrences.size());
      rank.occurrences.emplace_back().stream = stream;
      Item item;
      item.kind = Item::Kind::Record;
      item.issued = lane.clock;
      item.ref = rank.event_now[action.event.value];
      host_slice(lane, start, names_.record, command, Family::Stream);
      push_item(rank, stream, item, now);
      break;
    }
    case Action::Kind::Wait: {
      pay(lane, picoseconds_of(host.event_wait_ps).count());
      host_slice(lane, start, names_.wait, command, Family::Stream);
      // An event that was never recorded holds nobody, as in CUDA.
      if (rank.event_now[action.event.value] == none) break;
      Item item;
      item.kind = Item::Kind::Wait;
      item.issued = lane.clock;
      item.ref = rank.event_now[action.event.value];
      push_item(rank, stream, item, now);
      break;
    }
    case Action::Kind::HostWork:
      pay(lane, action.time.count());
      host_slice(lane, start, names_.host_work, command, Family::Host);
      break;
    case Action::Kind::HostSync: return sync(lane, action, now);
    case Action::Kind::ReadPredicate: lane.predicate = command; return sync(lane, action, now);
    case Action::Kind::Handoff: {
      for (const std::uint32_t id : rank.lanes) {
        Lane& other = lanes_[id];
        if (other.index != action.to.value || other.state != Lane::State::Waiting) continue;
        other.state = Lane::State::Running;
        other.clock = lane.clock + picoseconds_of(host.handoff_ps).count();
        events_.push({other.clock, HostWake, id});
      }
      break;
    }
    case Action::Kind::Branch: {
      const std::uint32_t of = command != no_command ? command : lane.predicate;
      const std::int64_t value = outcome(rank, of);
      std::int64_t target = value;
      if (std::holds_alternative<While>((*rank.expanded)[CommandId{of}].payload)) {
        std::int64_t& trips = rank.trips[of];
        target = trips < value ? 0 : 1;
        trips = target == 0 ? trips + 1 : 0;
      }
      const std::int64_t last = static_cast<std::int64_t>(action.targets.size()) - 1;
      if (target < 0 || target > last) target = last;
      lane.pc = rank.program->targets[action.targets[static_cast<std::size_t>(target)]].value;
      return true;
    }
    case Action::Kind::Jump: lane.pc = action.target.value; return true;
    case Action::Kind::GraphLaunch: {
      const auto nodes = static_cast<std::int64_t>(rank.program->graphs[action.graph].nodes.size());
      pay(lane, (picoseconds_of(machine_.graph.launch_ps)).count() +
                    nodes * picoseconds_of(machine_.graph.launch_per_node_ps).count());
      Item item;
      item.kind = Item::Kind::Graph;
      item.ref = action.graph.value;
      item.host_slice = host_slice(lane, start, names_.graph_launch, command, Family::HostApi);
      item.issued = std::max(lane.clock, start + picoseconds_of(machine_.graph.first_node_ps).count());
      push_item(rank, stream, item, now);
      break;
    }
    case Action::Kind::RangePush: lane.ranges.emplace_back(command, lane.clock); break;
    case Action::Kind::RangePop: {
      if (lane.ranges.empty()) break;
      const auto [of, since] = lane.ranges.back();
      lane.ranges.pop_back();
      if (!options_.host_slices) break;
      Recorder::Row row;
      row.colour = lane.rank;
      row.track = record_.range_track(lane.rank);
      row.start = since;
      row.end = lane.clock;
      row.name = record_.op_name(rank.rank_class, of);
      row.command = of;
      row.step = rank.step;
      row.family = Family::Mark;
      record_.add(row);
      break;
    }
  }
  ++lane.pc;
  return true;
}

// Goes on when the stream is empty: at once if it has been for long enough.
bool Run::sync(Lane& lane, const Action& action, std::int64_t now) {
  RankState& rank = ranks_[lane.rank];
  const auto id = static_cast<std::uint32_t>(&lane - lanes_.data());
  if (lane.clock > now) {
    events_.push({lane.clock, HostWake, id});
    return false;
  }
  Stream& stream = rank.streams[action.stream.value];
  const bool reads = action.kind == Action::Kind::ReadPredicate;
  if (!stream.empty() || stream.running) {
    if (lane.state == Lane::State::Running) lane.blocked_at = lane.clock;
    lane.state = reads ? Lane::State::Reading : Lane::State::Syncing;
    lane.stream = action.stream.value;
    stream.waiting_hosts.push_back(id);
    return false;
  }
  const std::int64_t start = lane.blocked_at > 0 ? lane.blocked_at : lane.clock;
  lane.blocked_at = 0;
  const std::int64_t reached = lane.clock;
  const std::int64_t notice = picoseconds_of(machine_.host.sync_ps).count();
  if (reads) {
    // One small copy on the stream, then the host notices.
    pay(lane, picoseconds_of(machine_.host.predicate_read_ps).count() + notice);
  } else {
    lane.clock = std::max(reached, stream.end > 0 ? stream.end + notice : 0);
  }
  if (lane.clock > start)
    host_slice(lane, start, reads ? names_.read_predicate : names_.sync,
               action.command ? action.command.value : no_command, reads ? Family::Control : Family::Stream);
  ++lane.pc;
  return true;
}

void Run::lane_done(Lane& lane) {
  RankState& rank = ranks_[lane.rank];
  lane.state = Lane::State::Done;
  if (--rank.lanes_left > 0) return;
  std::int64_t last = 0;
  for (const std::uint32_t id : rank.lanes) last = std::max(last, lanes_[id].clock);
  record_.step(lane.rank, rank.step, rank.step_start, std::max(last, rank.end));
  if (rank.step + 1 >= options_.steps) return;
  ++rank.step;
  rank.step_start = last;
  rank.lanes_left = static_cast<std::uint32_t>(rank.lanes.size());
  std::fill(rank.counts.begin(), rank.counts.end(), 0);
  std::fill(rank.event_now.begin(), rank.event_now.end(), none);
  for (const std::uint32_t id : rank.lanes) {
    Lane& each = lanes_[id];
    each.pc = rank.program->hosts[HostId{each.index}].actions.first;
    each.clock = last;
    each.state = each.handed ? Lane::State::Waiting : Lane::State::Running;
    if (!each.handed) events_.push({last, HostWake, id});
  }
}

}  // namespace stave::simulator
