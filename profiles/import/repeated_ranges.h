// Finds the steps of a program in ranges that its author named: the range that
// repeats, one after the other, and covers most of the time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace stave {

// "step 12", "ProfilerStep#12", "iteration_12": the words before the number, and
// it. Other names are one kind as they are, without a number.
struct RangeKind {
  std::string name;
  std::optional<std::uint32_t> number;
};
RangeKind range_kind(std::string_view name);

class RepeatedRanges {
 public:
  // Ranges of a thread in the order of their starts.
  void add(std::int64_t thread, std::string_view name, Time start, Time end);

  struct Choice {
    std::int64_t thread;
    std::string name;  // a RangeKind's
    bool numbered;
  };
  // Numbered ranges with "step" or "iter" in their name come first; then what
  // repeats at least three times and covers half of the ranges' time. None
  // overlap among themselves.
  std::optional<Choice> choose() const;

 private:
  struct Seen {
    std::int64_t count = 0;
    Time first{};
    Time last_end{};
    Picoseconds total{};
    bool overlap = false;
    bool numbered = false;
  };
  std::map<std::pair<std::int64_t, std::string>, Seen> seen_;
  Time first_ = Time::max();
  Time last_ = Time::min();
};

}  // namespace stave
