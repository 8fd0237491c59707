// Explicit messages over links: the event core and a network model, without
// hosts, streams and devices. For topologies and algorithms that are studied
// message by message.
//
// A message waits its route's latency, then flows; it is delivered when its
// last byte is there. Messages of one route share it fairly: they form one
// class, with one clock and a heap of ends, so a delivery costs O(log n).
// A run lasts 37 minutes of simulated time at most (the range of a route's clock).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "simulator/event_queue.h"
#include "simulator/sharing.h"
#include "simulator/timers.h"

namespace stave::simulator {

class Messages {
 public:
  using LinkId = std::uint32_t;
  using RouteId = std::uint32_t;

  explicit Messages(const NetworkModel& model) : sharing_(model) {}

  LinkId add_link(BytesPerSecond bandwidth);
  // A message alone on a route runs at the bandwidth of its narrowest link.
  RouteId add_route(std::span<const LinkId> links, Picoseconds latency);

  // `tag` comes back at delivery.
  void send(RouteId route, Bytes bytes, std::uint32_t tag, Time now);

  // Until nothing is under way. on_delivered(tag, time) may send.
  template <class F>
  Time run(F&& on_delivered);

  std::int64_t delivered() const { return delivered_; }

 private:
  struct Flow {
    Work end = 0;
    std::uint32_t tag = 0;

    friend bool operator<(const Flow& a, const Flow& b) { return a.end > b.end; }  // the heap's top ends first
  };
  struct Waiting {
    RouteId route = 0;
    std::uint32_t tag = 0;
    Work work = 0;
  };
  struct Route {
    std::uint32_t share = 0;
    double picoseconds_per_byte = 0;
    std::int64_t latency = 0;
    std::uint64_t paced = 0;  // the pace that its timer was set for
    bool moved = false;
    std::vector<Flow> flows;
  };

  void start(RouteId id, Work work, std::uint32_t tag, std::int64_t now);
  void touch(RouteId id);
  void settle(std::int64_t now);
  void schedule(RouteId id, std::int64_t now);

  Sharing sharing_;
  EventQueue arrivals_;  // of messages at their route, by position in waiting_
  Timers ends_;          // the next delivery of each route
  std::vector<BytesPerSecond> links_;
  std::vector<Route> routes_;
  std::vector<RouteId> of_share_;
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> free_;
  std::vector<RouteId> touched_;
  std::int64_t delivered_ = 0;
};

template <class F>
Time Messages::run(F&& on_delivered) {
  std::int64_t now = 0;
  std::vector<std::uint32_t> arrived;
  settle(now);
  while (!arrivals_.empty() || !ends_.empty()) {
    now = arrivals_.empty() ? ends_.next_time() : arrivals_.next_time();
    if (!ends_.empty()) now = std::min(now, ends_.next_time());
    while (!arrivals_.empty() && arrivals_.next_time() == now) {
      const std::uint32_t id = arrivals_.pop().id;
      const Waiting w = waiting_[id];
      free_.push_back(id);
      start(w.route, w.work, w.tag, now);
    }
    while (!ends_.empty() && ends_.next_time() == now) {
      const RouteId id = ends_.next_id();
      ends_.pop();
      Route& route = routes_[id];
      const Work clock = sharing_.progress(route.share, now);
      while (!route.flows.empty() && route.flows.front().end <= clock) {
        std::pop_heap(route.flows.begin(), route.flows.end());
        arrived.push_back(route.flows.back().tag);
        route.flows.pop_back();
      }
      touch(id);
    }
    for (const std::uint32_t tag : arrived) on_delivered(tag, Time{now});
    delivered_ += static_cast<std::int64_t>(arrived.size());
    arrived.clear();
    settle(now);
  }
  return Time{now};
}

}  // namespace stave::simulator
