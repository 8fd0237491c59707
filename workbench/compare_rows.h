// What text and page say of a comparison in the same words.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "workbench/report_json.h"

namespace stave {

// Contributions of one kind and title, over ranks, iterations and instances.
struct ContributionRow {
  Contribution::Kind kind{};
  Family family = Family::Other;
  std::string title{};
  bool command = false;
  bool rest = false;  // several titles, each too small for a row
  Picoseconds delta{};
  std::size_t count = 0;
  std::set<std::uint32_t> ranks{};
  std::set<std::uint32_t> lines{};

  std::string place() const;                  // "rank 0, line 12"
  std::string what(std::size_t width) const;  // in at most so many columns
};

// By size.
std::vector<ContributionRow> contribution_rows(const Comparison& made);
// The first `most` rows, and the others by kind and family, by size. They add up to the same.
std::vector<ContributionRow> with_rest(std::vector<ContributionRow> rows, std::size_t most);

// "B is 39.8 % slower than A: 107.230 ms against 76.727 ms, noise ±2.5 %", in one or two lines.
std::string verdict_text(const Comparison& made, const RunLabel& a, const RunLabel& b);

std::string window_words(const Window& window);

// "imported (trace.sqlite)", and "imported, captured, on h200-x2, rank 3 of 8": a run in titles.
std::string title_of_run(const RunLabel& run);
std::string run_words(const RunLabel& run, const std::vector<RankUse>& ranks);

}  // namespace stave
