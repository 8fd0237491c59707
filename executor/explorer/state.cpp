#include "executor/explorer/state.h"

#include <cstring>

namespace stave::explorer {

namespace {

// Two sums of the same words, mixed by the multipliers of splitmix64 (Steele, Lea, Flood 2014).
class Key {
 public:
  void add(std::uint64_t word) {
    a_ = (a_ ^ word) * 0xbf58476d1ce4e5b9u;
    a_ ^= a_ >> 29;
    b_ = (b_ + word + 0x9e3779b97f4a7c15u) * 0x94d049bb133111ebu;
    b_ ^= b_ >> 32;
  }
  void add(std::uint32_t high, std::uint32_t low) { add(std::uint64_t{high} << 32 | low); }
  template <class T, class F>
  void each(const std::vector<T>& values, F f) {
    add(values.size());
    for (const T& value : values) f(value);
  }
  StateKey take() const { return {a_, b_}; }

 private:
  std::uint64_t a_ = 0x243f6a8885a308d3u, b_ = 0x13198a2e03707344u;
};

void add(Key& key, const RankState& r) {
  key.each(r.hosts, [&](const Host& h) {
    key.add(h.at, static_cast<std::uint32_t>(h.value));
    key.add(h.started, h.reading);
  });
  key.each(r.items, [&](const Item& i) {
    key.add(static_cast<std::uint32_t>(i.kind) << 1 | (i.begun ? 1 : 0), i.stream);
    key.add(i.command.value, i.detail);
    key.add(i.number);
  });
  key.each(r.events, [&](const EventState& e) { key.add(e.issued, e.done); });
  key.each(r.runs, [&](const GraphRun& run) {
    key.add(run.active ? run.graph.value : 0, run.active);
    if (!run.active) return;
    key.add(run.nested ? run.parent + 1 : 0, run.parent_node);
    for (const GraphRun::Node node : run.nodes) key.add(static_cast<std::uint64_t>(node));
  });
  key.each(r.arrivals, [&](const Arrival& a) {
    key.add(a.launch.value, a.seat);
    key.add(a.number, a.met);
  });
  for (const std::uint32_t n : r.arrived) key.add(n);
  for (std::size_t i = 0; i < r.values.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, r.values.data() + i, std::min<std::size_t>(8, r.values.size() - i));
    key.add(word);
  }
  for (const std::uint64_t word : r.undefined) key.add(word);
  for (const std::uint64_t word : r.written) key.add(word);
  for (const std::uint8_t n : r.iterations) key.add(n);
}

// Calls f(word, mask) for the words that hold a range, until it says false.
template <class F>
bool for_words(Bytes range, F f) {
  for (std::uint32_t at = range.first; at < range.end;) {
    const std::uint32_t word = at / 64, end = std::min(range.end, (word + 1) * 64);
    const std::uint32_t count = end - at;
    const std::uint64_t mask = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << (at % 64);
    if (!f(word, mask)) return false;
    at = end;
  }
  return true;
}

}  // namespace

StateKey key_of(const State& state) {
  Key key;
  for (const RankState& r : state.ranks) add(key, r);
  key.add(state.mismatched);
  return key.take();
}

bool all_set(const std::vector<std::uint64_t>& bits, Bytes range) {
  return for_words(range, [&](std::uint32_t word, std::uint64_t mask) { return (bits[word] & mask) == mask; });
}

bool any_set(const std::vector<std::uint64_t>& bits, Bytes range) {
  return !for_words(range, [&](std::uint32_t word, std::uint64_t mask) { return (bits[word] & mask) == 0; });
}

void set(std::vector<std::uint64_t>& bits, Bytes range, bool value) {
  for_words(range, [&](std::uint32_t word, std::uint64_t mask) {
    bits[word] = value ? bits[word] | mask : bits[word] & ~mask;
    return true;
  });
}

}  // namespace stave::explorer
