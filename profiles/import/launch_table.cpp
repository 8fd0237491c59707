#include "profiles/import/launch_table.h"

#include <algorithm>

namespace stave {

void LaunchTable::reserve(std::size_t calls) {
  blocks_.reserve(calls / block_calls + 1);
  slices_.reserve(calls);
  // One for the id, two or three for the nanoseconds, one for the rest, which does not change.
  bytes_.reserve(calls * 9 / 2);
}

void LaunchTable::add(std::int64_t correlation, Time start) {
  if (slices_.size() % block_calls == 0) {
    blocks_.push_back({correlation, bytes_.size()});
    last_correlation_ = correlation;
    last_start_ = last_rest_ = 0;
  }
  const std::int64_t ns = start.count() / ps_in_ns, rest = start.count() % ps_in_ns;
  pack(correlation - last_correlation_, bytes_);
  pack(ns - last_start_, bytes_);
  pack(rest - last_rest_, bytes_);
  last_correlation_ = correlation;
  last_start_ = ns;
  last_rest_ = rest;
  slices_.emplace_back();
}

std::optional<LaunchTable::Launch> LaunchTable::find(std::int64_t correlation) const {
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), correlation,
                                [](std::int64_t id, const Block& b) { return id < b.first; });
  if (block == blocks_.begin()) return std::nullopt;
  --block;
  const std::size_t first = static_cast<std::size_t>(block - blocks_.begin()) * block_calls;
  const std::size_t end = std::min(first + block_calls, slices_.size());
  const std::uint8_t* bytes = bytes_.data() + block->byte;
  std::int64_t id = block->first, ns = 0, rest = 0;
  for (std::size_t at = first; at < end; ++at) {
    id += unpack(bytes);
    ns += unpack(bytes);
    rest += unpack(bytes);
    if (id == correlation) return Launch{at, Time{ns * ps_in_ns + rest}};
    if (id > correlation) break;
  }
  return std::nullopt;
}

LaunchTable LaunchGatherer::finish(Picoseconds shift, std::int64_t& shared) {
  // Both come sorted; the needed ids are few enough to be packed once more, each once.
  LaunchTable table;
  std::vector<std::uint8_t> ids;
  std::size_t count = 0;
  std::int64_t last = 0;
  needed_.each([&](std::int64_t id, std::int64_t) {
    if (count > 0 && id == last) return;
    pack(static_cast<std::int64_t>(static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(last)), ids);
    last = id;
    ++count;
  });
  needed_ = {};
  ids.shrink_to_fit();
  const auto joined = [&](auto take) {
    const std::uint8_t* at = ids.data();
    std::int64_t wanted = 0;
    std::size_t left = count;
    const auto advance = [&] {
      if (left == 0) return false;
      --left;
      wanted = static_cast<std::int64_t>(static_cast<std::uint64_t>(wanted) + static_cast<std::uint64_t>(unpack(at)));
      return true;
    };
    bool more = advance();
    std::optional<std::pair<std::int64_t, std::int64_t>> held;  // the last call of an id so far
    std::int64_t others = 0;
    calls_.each([&](std::int64_t id, std::int64_t start) {
      while (more && wanted < id) more = advance();
      if (!more || wanted != id) return;
      if (held && held->first == id)
        ++others;
      else if (held)
        take(held->first, held->second);
      held = {id, start};
    });
    if (held) take(held->first, held->second);
    return others;
  };
  // Counted first: a table that grows is held twice.
  std::size_t calls = 0;
  shared = joined([&](std::int64_t, std::int64_t) { ++calls; });
  table.reserve(calls);
  joined([&](std::int64_t id, std::int64_t start) { table.add(id, Time{start} + shift); });
  calls_ = {};
  return table;
}

}  // namespace stave
