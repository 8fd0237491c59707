#include "profiles/import/problem_counts.h"

#include <fmt/format.h>

#include "core/base/in_number.h"

namespace stave {

void ProblemCounts::count(const ProblemKind& kind, const At& at, std::int64_t by) { say(kind, at, "", by); }

void ProblemCounts::say(const ProblemKind& kind, const At& at, std::string_view text, std::int64_t by) {
  data_lost_ = data_lost_ || kind.data_lost;
  // An error's message may begin as the kind's does: "damaged: ".
  const std::string_view before = kind.message.substr(0, kind.message.find("{}"));
  if (!before.empty() && text.starts_with(before)) text.remove_prefix(before.size());
  const auto [place, added] = counted_.try_emplace(
      {std::string(kind.code), std::string(at.file), std::string(text.empty() ? kind.message : text)});
  Counted& counted = place->second;
  counted.count += by;
  if (!added) return;
  counted.kind = &kind;
  counted.text = text;
  counted.file = at.file;
  counted.row = at.row;
  counted.byte = at.byte;
}

std::vector<TimelineProblem> ProblemCounts::rows() const {
  std::vector<TimelineProblem> rows;
  for (const auto& [key, counted] : counted_) {
    std::string message = in_number(counted.kind->message, counted.count);
    if (const std::size_t hole = message.find("{}"); hole != std::string::npos)
      message.replace(hole, 2, counted.text.empty() ? std::to_string(counted.count) : counted.text);
    if (!counted.row.empty())
      message += fmt::format("; first in {}", counted.row);
    else if (counted.byte)
      message += fmt::format("; first at byte {}", *counted.byte);
    // A cause comes before what follows from it.
    const bool first = counted.kind->code == problem_kinds::damaged.code;
    rows.insert(first ? rows.begin() : rows.end(), {.severity = counted.kind->severity,
                                                    .code = std::string(counted.kind->code),
                                                    .count = counted.count,
                                                    .message = std::move(message),
                                                    .file = counted.file,
                                                    .byte = counted.byte});
  }
  return rows;
}

std::vector<TimelineProblem> without_folders(std::vector<TimelineProblem> problems) {
  for (TimelineProblem& problem : problems)
    if (const std::size_t slash = problem.file.rfind('/'); slash != std::string::npos) problem.file.erase(0, slash + 1);
  return problems;
}

}  // namespace stave
