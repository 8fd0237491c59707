#include "profiles/import/repeated_ranges.h"

#include <algorithm>
#include <charconv>

namespace stave {
namespace {

// A trace may name each operator anew; who has this many names names no steps.
constexpr std::size_t most_kinds = 65536;

bool names_step(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower.find("step") != std::string::npos || lower.find("iter") != std::string::npos;
}

}  // namespace

RangeKind range_kind(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (digits == name.size() || error != std::errc{} || number == 0xffffffff || !names_step(name.substr(0, digits)))
    return {std::string(name), std::nullopt};
  return {std::string(name.substr(0, digits)), number};
}

void RepeatedRanges::add(std::int64_t thread, std::string_view name, Time start, Time end) {
  first_ = std::min(first_, start);
  last_ = std::max(last_, end);
  const RangeKind kind = range_kind(name);
  const auto key = std::pair{thread, kind.name};
  const auto at = seen_.find(key);
  if (at == seen_.end()) {
    if (seen_.size() < most_kinds) seen_[key] = {1, start, end, end - start, false, kind.number.has_value()};
    return;
  }
  Seen& seen = at->second;
  ++seen.count;
  seen.overlap = seen.overlap || start < seen.last_end;
  seen.last_end = std::max(seen.last_end, end);
  seen.total += end - start;
}

std::optional<RepeatedRanges::Choice> RepeatedRanges::choose() const {
  const std::pair<const std::pair<std::int64_t, std::string>, Seen>* best = nullptr;
  for (const auto& candidate : seen_) {
    const Seen& seen = candidate.second;
    const bool step = seen.numbered || names_step(candidate.first.second);
    if (seen.overlap || seen.count < (step ? 1 : 3) || seen.count > 1'000'000) continue;
    if (!step && seen.total < (last_ - first_) / 2) continue;
    if (best == nullptr) {
      best = &candidate;
      continue;
    }
    const bool best_numbered = best->second.numbered;
    if (seen.numbered != best_numbered ? seen.numbered : seen.total > best->second.total) best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  return Choice{best->first.first, best->first.second, best->second.numbered};
}

}  // namespace stave
