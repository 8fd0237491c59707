// All ways that the predicates of a plan can fall, one after the other. A choice
// is asked for by the value that decides it: the same value, the same choice.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace stave::check {

class Ways {
 public:
  // The choice of this way, below `options`.
  std::uint32_t choose(std::uint64_t value, std::uint32_t options) {
    const auto [at, added] = by_value_.try_emplace(value, asked_);
    if (!added) return choices_[at->second].chosen < options ? choices_[at->second].chosen : options - 1;
    if (asked_ == choices_.size()) choices_.push_back({0, options});
    return choices_[asked_++].chosen;
  }

  // Goes to the next way, the choice that was asked for last first; false: there is none.
  bool next() {
    by_value_.clear();
    choices_.resize(asked_);
    asked_ = 0;
    while (!choices_.empty() && ++choices_.back().chosen == choices_.back().options) choices_.pop_back();
    return !choices_.empty();
  }

 private:
  struct Choice {
    std::uint32_t chosen = 0;
    std::uint32_t options = 1;
  };
  std::vector<Choice> choices_;                                // in the order in which they are asked for
  std::size_t asked_ = 0;                                      // in this way
  std::unordered_map<std::uint64_t, std::size_t> by_value_{};  // of this way
};

}  // namespace stave::check
