// What happens next: a heap of times, 16 bytes an entry.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace stave::simulator {

struct Event {
  std::int64_t time = 0;   // picoseconds
  std::uint32_t what = 0;  // which kind, as its owner counts them
  std::uint32_t id = 0;
};

// Earliest first. Of equal times the order is the same in every run, and nothing
// may depend on it: the owner drains a whole instant before it decides anything.
// Four children a node: half the levels of a binary heap, and the children of
// one node share a cache line.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  std::int64_t next_time() const { return heap_.front().time; }
  void clear() { heap_.clear(); }

  void push(Event event) {
    std::size_t at = heap_.size();
    heap_.push_back(event);
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (heap_[parent].time <= event.time) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = event;
  }

  Event pop() {
    assert(!heap_.empty());
    const Event top = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t n = heap_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = 4 * at + 1;
      if (first >= n) break;
      const std::size_t end = first + 4 < n ? first + 4 : n;
      std::size_t best = first;
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child].time < heap_[best].time) best = child;
      if (heap_[best].time >= last.time) break;
      heap_[at] = heap_[best];
      at = best;
    }
    if (n > 0) heap_[at] = last;
    return top;
  }

 private:
  std::vector<Event> heap_;
};

}  // namespace stave::simulator
