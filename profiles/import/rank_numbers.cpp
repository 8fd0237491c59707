#include "profiles/import/rank_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

namespace stave {

std::optional<std::uint32_t> rank_in_name(std::string_view file) {
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = file.find(word); at != std::string_view::npos; at = file.find(word, at + 1)) {
      std::string_view number = file.substr(at + word.size());
      if (number.starts_with('_') || number.starts_with('-') || number.starts_with(' ')) number.remove_prefix(1);
      std::uint32_t rank = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
      if (error == std::errc{} && rank < (1U << 24)) return rank;
    }
  }
  return std::nullopt;
}

std::vector<RankNumber> rank_numbers(std::span<const RankHint> files, ProblemCounts& problems) {
  std::vector<RankNumber> numbers(files.size());
  std::set<std::uint32_t> taken;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::optional<std::uint32_t> named = rank_in_name(files[i].file);
    const std::optional<std::uint32_t> rank = files[i].said ? files[i].said : named;
    if (rank && taken.insert(*rank).second) {
      numbers[i] = {*rank, files[i].said ? "distributedInfo" : "file name"};
    } else {
      left.push_back(i);
      if (rank)
        problems.say(problem_kinds::rank_twice, {.file = files[i].file},
                     fmt::format("{} says that it is rank {}, as another file does; it gets another number",
                                 files[i].file, *rank));
    }
  }
  std::uint32_t next = 0;
  for (const std::size_t i : left) {
    while (!taken.insert(next).second) ++next;
    numbers[i] = {next, "position"};
  }
  if (files.size() > 1 && !left.empty())
    problems.say(problem_kinds::rank_guess, {},
                 fmt::format("{} of {} files do not say their rank; they are numbered in the order given", left.size(),
                             files.size()));
  return numbers;
}

}  // namespace stave
