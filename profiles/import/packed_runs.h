// Numbers under keys, packed to a few bytes each, that come out sorted: what a
// first pass keeps of a trace of any length. They are packed in runs, sorted
// each, and merged when read.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace stave {

// Seven bits a byte, the small numbers of both signs short.
void pack(std::int64_t value, std::vector<std::uint8_t>& out);
std::int64_t unpack(const std::uint8_t*& at);
inline constexpr std::int64_t ps_in_ns = 1000;

class PackedRuns {
 public:
  void add(std::int64_t key, std::int64_t value);
  // By key; of equal keys in the order they came. Call it as often as needed, after the last add().
  void each(const std::function<void(std::int64_t key, std::int64_t value)>& visit);

 private:
  struct Entry {
    std::int64_t key;
    std::int64_t value;
  };
  static constexpr std::size_t run_entries = std::size_t{1} << 14;
  struct Run {
    std::size_t entries = 0;
    std::int64_t unit = 1;  // of the values: nanoseconds are short, their picoseconds are not
    std::vector<std::uint8_t> bytes{};
  };

  void close_run();

  std::vector<Entry> last_;  // what was not packed yet
  std::vector<Run> runs_;
};

}  // namespace stave
