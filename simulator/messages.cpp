#include "simulator/messages.h"

#include <cmath>

namespace stave::simulator {

Messages::LinkId Messages::add_link(BytesPerSecond bandwidth) {
  links_.push_back(bandwidth);
  return sharing_.add_resource(ResourceKind::Link);
}

Messages::RouteId Messages::add_route(std::span<const LinkId> links, Picoseconds latency) {
  assert(!links.empty());
  double narrowest = links_[links[0]].per_second;
  for (const LinkId link : links) narrowest = std::min(narrowest, links_[link].per_second);
  std::vector<Use> uses;
  for (const LinkId link : links) uses.push_back({link, amount_of(narrowest / links_[link].per_second)});
  Route& route = routes_.emplace_back();
  route.share = sharing_.open(uses, 0);
  route.picoseconds_per_byte = 1e12 / narrowest;
  route.latency = latency.count();
  const auto id = static_cast<RouteId>(routes_.size() - 1);
  if (of_share_.size() <= route.share) of_share_.resize(route.share + 1);
  of_share_[route.share] = id;
  return id;
}

void Messages::send(RouteId id, Bytes bytes, std::uint32_t tag, Time now) {
  const Route& route = routes_[id];
  const Work work = std::max<Work>(std::llround(static_cast<double>(bytes.value) * route.picoseconds_per_byte *
                                                static_cast<double>(Work{1} << work_bits)),
                                   1);
  if (route.latency == 0) {
    start(id, work, tag, now.count());
    return;
  }
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(waiting_.size());
    waiting_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  waiting_[slot] = {id, tag, work};
  arrivals_.push({now.count() + route.latency, 0, slot});
}

void Messages::start(RouteId id, Work work, std::uint32_t tag, std::int64_t now) {
  Route& route = routes_[id];
  route.flows.push_back({sharing_.progress(route.share, now) + work, tag});
  std::push_heap(route.flows.begin(), route.flows.end());
  touch(id);
}

void Messages::touch(RouteId id) {
  if (routes_[id].moved) return;
  routes_[id].moved = true;
  touched_.push_back(id);
}

void Messages::settle(std::int64_t now) {
  for (const RouteId id : touched_) sharing_.set_members(routes_[id].share, routes_[id].flows.size() * one_member);
  // Who got slower keeps its timer: it is early, and looks again then.
  for (const std::uint32_t share : sharing_.solve(now))
    if (sharing_.pace(share) > routes_[of_share_[share]].paced) touch(of_share_[share]);
  for (const RouteId id : touched_) {
    routes_[id].moved = false;
    schedule(id, now);
  }
  touched_.clear();
}

void Messages::schedule(RouteId id, std::int64_t now) {
  Route& route = routes_[id];
  if (route.flows.empty()) return;
  route.paced = sharing_.pace(route.share);
  ends_.set(id, now + time_for(route.flows.front().end - sharing_.progress(route.share, now), route.paced));
}

}  // namespace stave::simulator
