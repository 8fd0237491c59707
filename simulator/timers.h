// One pending time for each of a set of ids: a heap whose entries can move, for
// owners whose times change often.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace stave::simulator {

class Timers {
 public:
  bool empty() const { return heap_.empty(); }
  std::int64_t next_time() const { return heap_.front().time; }
  std::uint32_t next_id() const { return heap_.front().id; }

  void set(std::uint32_t id, std::int64_t time) {
    if (at_.size() <= id) at_.resize(id + 1, absent);
    if (at_[id] == absent) {
      at_[id] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({time, id});
      up(at_[id]);
      return;
    }
    const std::uint32_t at = at_[id];
    const std::int64_t before = heap_[at].time;
    heap_[at].time = time;
    if (time < before)
      up(at);
    else if (time > before)
      down(at);
  }

  void pop() {
    at_[heap_.front().id] = absent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    heap_.front() = last;
    at_[last.id] = 0;
    down(0);
  }

 private:
  static constexpr std::uint32_t absent = 0xffffffff;
  struct Entry {
    std::int64_t time;
    std::uint32_t id;
  };

  void up(std::uint32_t at) {
    const Entry e = heap_[at];
    while (at > 0) {
      const std::uint32_t parent = (at - 1) / 4;
      if (heap_[parent].time <= e.time) break;
      heap_[at] = heap_[parent];
      at_[heap_[at].id] = at;
      at = parent;
    }
    heap_[at] = e;
    at_[e.id] = at;
  }

  void down(std::uint32_t at) {
    const Entry e = heap_[at];
    const auto n = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      const std::uint32_t first = 4 * at + 1;
      if (first >= n) break;
      const std::uint32_t end = first + 4 < n ? first + 4 : n;
      std::uint32_t best = first;
      for (std::uint32_t child = first + 1; child < end; ++child)
        if (heap_[child].time < heap_[best].time) best = child;
      if (heap_[best].time >= e.time) break;
      heap_[at] = heap_[best];
      at_[heap_[at].id] = at;
      at = best;
    }
    heap_[at] = e;
    at_[e.id] = at;
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> at_;
};

}  // namespace stave::simulator
