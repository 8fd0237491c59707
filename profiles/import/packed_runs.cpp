#include "profiles/import/packed_runs.h"

#include <algorithm>
#include <queue>

namespace stave {
namespace {

// A difference that wraps is the same one again when it is added.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t added(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

struct RunReader {
  const std::uint8_t* at = nullptr;
  std::size_t left = 0;
  std::size_t run = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
  std::int64_t unit = 1;

  bool next() {
    if (left == 0) return false;
    --left;
    key = added(key, unpack(at));
    value = added(value, unpack(at));
    return true;
  }
};

}  // namespace

void pack(std::int64_t value, std::vector<std::uint8_t>& out) {
  std::uint64_t bits = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  for (; bits > 0x7f; bits >>= 7) out.push_back(static_cast<std::uint8_t>(bits | 0x80));
  out.push_back(static_cast<std::uint8_t>(bits));
}

std::int64_t unpack(const std::uint8_t*& at) {
  std::uint64_t bits = 0;
  for (int shift = 0;; shift += 7) {
    bits |= static_cast<std::uint64_t>(*at & 0x7f) << shift;
    if ((*at++ & 0x80) == 0) break;
  }
  return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
}

void PackedRuns::add(std::int64_t key, std::int64_t value) {
  if (last_.capacity() == 0) last_.reserve(run_entries);
  last_.push_back({key, value});
  if (last_.size() == run_entries) close_run();
}

void PackedRuns::close_run() {
  std::stable_sort(last_.begin(), last_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  Run& run = runs_.emplace_back();
  run.entries = last_.size();
  const bool whole = std::all_of(last_.begin(), last_.end(), [](const Entry& e) { return e.value % ps_in_ns == 0; });
  run.unit = whole ? ps_in_ns : 1;
  Entry before{0, 0};
  for (const Entry& entry : last_) {
    pack(difference(entry.key, before.key), run.bytes);
    pack(difference(entry.value / run.unit, before.value / run.unit), run.bytes);
    before = entry;
  }
  run.bytes.shrink_to_fit();
  last_.clear();
}

void PackedRuns::each(const std::function<void(std::int64_t key, std::int64_t value)>& visit) {
  if (!last_.empty()) close_run();
  last_ = {};
  const auto later = [](const RunReader& a, const RunReader& b) {
    return a.key != b.key ? a.key > b.key : a.run > b.run;
  };
  std::priority_queue<RunReader, std::vector<RunReader>, decltype(later)> runs(later);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    RunReader cursor{.at = runs_[i].bytes.data(), .left = runs_[i].entries, .run = i, .unit = runs_[i].unit};
    if (cursor.next()) runs.push(cursor);
  }
  while (!runs.empty()) {
    RunReader cursor = runs.top();
    runs.pop();
    visit(cursor.key, cursor.value * cursor.unit);
    if (cursor.next()) runs.push(cursor);
  }
}

}  // namespace stave
