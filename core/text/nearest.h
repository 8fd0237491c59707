// "did you mean": the known name that is closest to what was written.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace stave {

// Insertions, deletions and replacements from `a` to `b`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Empty if nothing is close: at most a third of the letters may differ. The first of equals wins.
template <class Names>
std::string_view nearest_name(std::string_view written, const Names& names) {
  if (written.size() > 40) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(written, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

// "; did you mean `gemm`?" or nothing.
template <class Names>
std::string did_you_mean(std::string_view written, const Names& names) {
  const std::string_view name = nearest_name(written, names);
  return name.empty() ? "" : "; did you mean `" + std::string(name) + "`?";
}

}  // namespace stave
