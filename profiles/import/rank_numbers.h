// Which rank a file is, and how that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "profiles/import/problem_counts.h"

namespace stave {

struct RankNumber {
  std::uint32_t rank = 0;
  std::string from{};  // "distributedInfo", "file name", "position"
};

// The N of "rank3", "rank_3", "rank-3", "rank 3", "worker3" in the name of a file or a process.
std::optional<std::uint32_t> rank_in_name(std::string_view file);

struct RankHint {
  std::string file;                        // without folders
  std::optional<std::uint32_t> said = {};  // what the file itself says
};

// Distinct numbers. What the files say, else what their names say, counts only
// if it gives each its own; what collides gets the next free number, and that is told.
std::vector<RankNumber> rank_numbers(std::span<const RankHint> files, ProblemCounts& problems);

}  // namespace stave
