#include "workbench/compare_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

#include "workbench/units_text.h"

namespace stave {
namespace {

std::string noise_text(const Comparison& made, const RunLabel& a, const RunLabel& b) {
  if (a.kind == "predicted" && b.kind == "predicted") return "predictions have no noise";
  if (made.noise_pct) return fmt::format("noise ±{:.1f} %", *made.noise_pct);
  const bool of_a = a.kind != "predicted" && (made.a_timed_steps < 3 || made.a.window.kind != "step");
  const std::size_t steps = of_a ? made.a_timed_steps : made.b_timed_steps;
  if (steps < 3)
    return fmt::format("noise unknown: {} has {} timed step{}, three are needed", of_a ? 'A' : 'B', steps,
                       steps == 1 ? "" : "s");
  return "noise unknown: it is known for steps only";
}

// The key of a command without the indices of its repeats, else the name.
std::string repeated_title(const Timeline& timeline, SliceId slice) {
  const std::string_view title = title_of(timeline, slice);
  if (!timeline.slice(slice).command) return std::string(title);
  std::string out;
  int depth = 0;
  for (const char c : title) {
    if (c == '[') ++depth;
    if (depth == 0) out += c;
    if (c == ']' && depth > 0) --depth;
  }
  return out;
}

}  // namespace

std::string verdict_text(const Comparison& made, const RunLabel& a, const RunLabel& b) {
  const std::string times = fmt::format("{} against {}", duration_text(made.b_length), duration_text(made.a_length));
  const std::string pct = made.delta_pct ? fmt::format("{:.1f} %", std::abs(*made.delta_pct)) : "";
  const std::string noise = noise_text(made, a, b);
  switch (made.verdict) {
    case Verdict::Same:
      if (made.delta.count() == 0) return fmt::format("B takes as long as A: {}", duration_text(made.a_length));
      return fmt::format("B takes as long as A within the noise: {}, {}", times, noise);
    case Verdict::Faster: return fmt::format("B is {} faster than A: {}, {}", pct, times, noise);
    case Verdict::Slower: return fmt::format("B is {} slower than A: {}, {}", pct, times, noise);
    case Verdict::Undecided: break;
  }
  return fmt::format("B takes {} {} than A: {};\nundecided, {}", pct, made.delta.count() < 0 ? "less" : "longer", times,
                     noise);
}

std::string ContributionRow::place() const {
  std::string text;
  if (!ranks.empty())
    text = ranks.size() == 1 ? fmt::format("rank {}", *ranks.begin()) : fmt::format("{} ranks", ranks.size());
  return lines.size() == 1 ? fmt::format("{}, line {}", text, *lines.begin()) : text;
}

// A command's path begins with what all have in common, a kernel's name does not.
std::string ContributionRow::what(std::size_t width) const {
  if (rest) return cut(fmt::format("{}, {}", count_text(count, "smaller one"), name_of(family)), width);
  const std::string times = count > 1 ? fmt::format(" x{}", count) : "";
  const std::string before = kind == Contribution::Kind::Gap && !ranks.empty() ? "before " : "";
  width -= times.size() + before.size();
  return before + (command ? cut_front(title, width) : cut(title, width)) + times;
}

std::vector<ContributionRow> contribution_rows(const Comparison& made) {
  std::map<std::tuple<Contribution::Kind, std::string>, ContributionRow> groups;
  for (const Contribution& part : made.contributions) {
    const Timeline& timeline = part.b ? made.timeline_b() : made.timeline_a();
    const SliceId slice = part.b ? part.b : part.a;
    std::string title = part.kind == Contribution::Kind::Gap ? "end of the window" : "";
    if (slice) title = repeated_title(timeline, slice);
    ContributionRow& row = groups[{part.kind, title}];
    row.kind = part.kind;
    if (slice) row.family = timeline.slice(slice).family;
    row.title = std::move(title);
    row.delta += part.delta;
    ++row.count;
    if (!slice) continue;
    row.ranks.insert(timeline.track(timeline.slice(slice).track).rank);
    const TimelineCommandId command = timeline.slice(slice).command;
    row.command = command.value != TimelineCommandId::none;
    if (row.command && timeline.command(command).line != 0) row.lines.insert(timeline.command(command).line);
  }
  std::vector<ContributionRow> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const ContributionRow& x, const ContributionRow& y) {
    return std::abs(x.delta.count()) > std::abs(y.delta.count());
  });
  return rows;
}

std::vector<ContributionRow> with_rest(std::vector<ContributionRow> rows, std::size_t most) {
  if (rows.size() <= most + 1) return rows;
  std::map<std::pair<Contribution::Kind, Family>, ContributionRow> groups;
  for (std::size_t i = most; i < rows.size(); ++i) {
    ContributionRow& group = groups[{rows[i].kind, rows[i].family}];
    group.kind = rows[i].kind;
    group.family = rows[i].family;
    group.rest = true;
    group.delta += rows[i].delta;
    group.count += rows[i].count;
    group.ranks.merge(rows[i].ranks);
    group.lines.merge(rows[i].lines);
  }
  rows.resize(most);
  std::vector<ContributionRow> rest;
  for (auto& [key, group] : groups) rest.push_back(std::move(group));
  std::stable_sort(rest.begin(), rest.end(), [](const ContributionRow& x, const ContributionRow& y) {
    return std::abs(x.delta.count()) > std::abs(y.delta.count());
  });
  rows.insert(rows.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return rows;
}

std::string window_words(const Window& window) {
  if (window.kind == "all") return "all of it";
  return window.label.empty() ? window.kind : fmt::format("{} {}", window.kind, window.label);
}

std::string title_of_run(const RunLabel& run) {
  return run.file.empty() ? run.label : fmt::format("{} ({})", run.label, run.file);
}

std::string run_words(const RunLabel& run, const std::vector<RankUse>& ranks) {
  std::string words = run.kind;
  for (const std::string& more : {run.mode, run.machine.empty() ? "" : "on " + run.machine})
    if (!more.empty()) words += ", " + more;
  if (run.world_ranks_count <= run.ranks_count)
    return fmt::format("{}, {}", words, count_text(run.ranks_count, "rank"));
  if (ranks.size() == 1) return fmt::format("{}, rank {} of {}", words, ranks[0].rank, run.world_ranks_count);
  return fmt::format("{}, {} of {} ranks", words, run.ranks_count, run.world_ranks_count);
}

}  // namespace stave
