// What a run that cannot go on is waiting for.
#include <algorithm>

#include "simulator/run.h"

namespace stave::simulator {
namespace {

std::string stream_words(const IssueProgram& program, std::uint32_t stream) {
  const StreamRef& s = program.streams[stream];
  switch (s.kind) {
    case StreamRef::Kind::Main: return "the main stream";
    case StreamRef::Kind::Computation: return fmt::format("stream computation {}", s.number);
    case StreamRef::Kind::Communication: return fmt::format("stream communication {}", s.number);
  }
  return {};
}

}  // namespace

// A stream of this rank that holds work, or a host lane that waits.
std::optional<Run::Blocked> Run::blocked_on(std::uint32_t rank_id) const {
  const RankState& rank = ranks_[rank_id];
  for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
    if (rank.streams[s].running || !rank.streams[s].empty()) return Blocked{rank_id, s, none};
  for (const std::uint32_t lane : rank.lanes)
    if (lanes_[lane].state != Lane::State::Done) return Blocked{rank_id, none, lane};
  return std::nullopt;
}

Run::Cause Run::cause_of(const Blocked& blocked) const {
  const RankState& rank = ranks_[blocked.rank];
  const auto path = [&](std::uint32_t command) { return rank.expanded->path(CommandId{command}); };
  const auto stream_of = [&](std::uint32_t s) { return stream_words(*rank.program, s); };
  if (blocked.lane != none) {
    const Lane& lane = lanes_[blocked.lane];
    if (lane.state == Lane::State::Waiting)
      return {{}, fmt::format("host {} waits for a handoff that nobody makes", lane.index), {}};
    return {{},
            fmt::format("host {} waits until {} is empty", lane.index, stream_of(lane.stream)),
            Blocked{blocked.rank, lane.stream, none}};
  }
  const Stream& stream = rank.streams[blocked.stream];
  if (!stream.running) {
    const Item& item = stream.items[stream.head];
    if (item.kind == Item::Kind::Wait) {
      const Occurrence& event = rank.occurrences[item.ref];
      return {{},
              fmt::format("{} waits for an event of {}", stream_of(blocked.stream), stream_of(event.stream)),
              Blocked{blocked.rank, event.stream, none}};
    }
    if (stream.comm_waiting != none) {
      const Comm& comm = rank.comms[stream.comm_waiting];
      for (OpId op = 0; op < launches_.size(); ++op)
        if (launches_[op].costed && launches_[op].rank == blocked.rank && launches_[op].comm == stream.comm_waiting &&
            !engine_.op(op).over)
          return {path(item.ref),
                  fmt::format("waits for its turn on its communicator, which {} has", path(launches_[op].command)),
                  Blocked{blocked.rank, launches_[op].stream, none}};
      // Whoever is next has been issued on another stream and has not come up yet.
      for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
        for (std::size_t i = rank.streams[s].head; i < rank.streams[s].items.size(); ++i)
          if (rank.streams[s].items[i].ticket == comm.serving && s != blocked.stream)
            return {
                path(item.ref),
                fmt::format("waits for its turn on its communicator, behind {}", path(rank.streams[s].items[i].ref)),
                Blocked{blocked.rank, s, none}};
    }
    return {item.kind == Item::Kind::Launch ? path(item.ref) : std::string(), "cannot start", {}};
  }
  for (OpId op = 0; op < launches_.size(); ++op) {
    const Launch& launch = launches_[op];
    const bool here = launch.rank == blocked.rank && launch.costed && !engine_.op(op).over &&
                      (launch.stream == blocked.stream || launch.graph_run != none);
    if (!here) continue;
    for (const ActivityId activity : engine_.op(op).activities)
      for (const std::uint32_t device : engine_.missing(activity)) {
        const auto next = blocked_on(device);
        return {path(launch.command),
                fmt::format("waits for rank {}{}", ranks_[device].rank,
                            next ? " to arrive" : ", which issues nothing more"),
                next};
      }
    if (engine_.op(op).queued) {
      for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
        if (s != blocked.stream && rank.streams[s].running)
          return {path(launch.command), fmt::format("waits for room on the device, which {} holds", stream_of(s)),
                  Blocked{blocked.rank, s, none}};
      continue;
    }
    // Resident here; a partner is not.
    for (const std::uint32_t t : launch.transfers)
      for (OpId other = 0; other < launches_.size(); ++other) {
        const Launch& partner = launches_[other];
        if (other == op || !partner.costed || engine_.op(other).over || !engine_.op(other).queued) continue;
        if (std::find(partner.transfers.begin(), partner.transfers.end(), t) == partner.transfers.end()) continue;
        return {path(launch.command), fmt::format("waits for rank {} to find room", ranks_[partner.rank].rank),
                Blocked{partner.rank, partner.stream, none}};
      }
  }
  return {{}, fmt::format("{} does not go on", stream_of(blocked.stream)), {}};
}

std::optional<Deadlock> Run::find_deadlock(std::int64_t now) {
  std::optional<Blocked> at;
  for (std::uint32_t r = 0; r < ranks_.size() && !at; ++r) at = blocked_on(r);
  if (!at) return std::nullopt;
  Deadlock deadlock;
  deadlock.time = Time{now};
  std::vector<Blocked> seen;
  while (at) {
    const auto known = std::find(seen.begin(), seen.end(), *at);
    if (known != seen.end()) {
      deadlock.cycle.erase(deadlock.cycle.begin(), deadlock.cycle.begin() + (known - seen.begin()));
      break;
    }
    seen.push_back(*at);
    Cause cause = cause_of(*at);
    deadlock.cycle.push_back({ranks_[at->rank].rank, std::move(cause.command), std::move(cause.words)});
    at = cause.next;
  }
  return deadlock;
}

}  // namespace stave::simulator
