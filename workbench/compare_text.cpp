#include "workbench/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "workbench/units_text.h"

namespace stave {
namespace {

constexpr int half_bar = 8;  // columns to each side of zero
constexpr std::size_t one_sided_rows = 8;

// One unit for a column that a reader adds up.
struct Unit {
  std::string_view name;
  std::int64_t ps;

  std::string text(Picoseconds delta) const {
    if (ps == 1) return fmt::format("{:+} ps", delta.count());
    return fmt::format("{:+.3f} {}", static_cast<double>(delta.count()) / static_cast<double>(ps), name);
  }
};

Unit unit_of(std::int64_t longest) {
  for (const Unit& unit : {Unit{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}})
    if (longest >= unit.ps) return unit;
  return {"ps", 1};
}

std::string window_text(const Window& window) {
  if (window.kind == "all") return "all of it";
  return window.label.empty() ? window.kind : fmt::format("{} {}", window.kind, window.label);
}

std::string run_line(char name, const RunLabel& run, const Window& window, Picoseconds length) {
  const std::string what =
      fmt::format("{}{}{}, {}", run.kind, run.mode.empty() ? "" : ", ", run.mode, window_text(window));
  return fmt::format("{}  {:<42} {:<36}{:>16}\n", name, cut(fmt::format("{} ({})", run.label, run.file), 42),
                     cut(what, 36), duration_text(length));
}

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

std::string verdict_text(const Comparison& made, const RunLabel& a, const RunLabel& b) {
  const std::string times = fmt::format("{} against {}", duration_text(made.b_length), duration_text(made.a_length));
  const std::string pct = made.delta_pct ? fmt::format("{:.1f} %", std::abs(*made.delta_pct)) : "";
  const std::string noise = noise_text(made, a, b);
  switch (made.verdict) {
    case Verdict::Same:
      if (made.delta.count() == 0) return fmt::format("B takes as long as A: {}\n", duration_text(made.a_length));
      return fmt::format("B takes as long as A within the noise: {}, {}\n", times, noise);
    case Verdict::Faster: return fmt::format("B is {} faster than A: {}, {}\n", pct, times, noise);
    case Verdict::Slower: return fmt::format("B is {} slower than A: {}, {}\n", pct, times, noise);
    case Verdict::Undecided: break;
  }
  return fmt::format("B takes {} {} than A: {};\nundecided, {}\n", pct, made.delta.count() < 0 ? "less" : "longer",
                     times, noise);
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

// Contributions of one kind and title, over ranks, iterations and instances.
struct ContributionRow {
  Contribution::Kind kind{};
  std::string title{};
  bool command = false;
  Picoseconds delta{};
  std::size_t count = 0;
  std::set<std::uint32_t> ranks{};
  std::set<std::uint32_t> lines{};

  std::string place() const {
    std::string text;
    if (!ranks.empty())
      text = ranks.size() == 1 ? fmt::format("rank {}", *ranks.begin()) : fmt::format("{} ranks", ranks.size());
    return lines.size() == 1 ? fmt::format("{}, line {}", text, *lines.begin()) : text;
  }

  // A command's path begins with what all have in common, a kernel's name does not.
  std::string what(std::size_t width) const {
    const std::string times = count > 1 ? fmt::format(" x{}", count) : "";
    const std::string before = kind == Contribution::Kind::Gap && !ranks.empty() ? "before " : "";
    width -= times.size() + before.size();
    if (!command || title.size() <= width) return before + cut(title, width) + times;
    return fmt::format("{}...{}{}", before, title.substr(title.size() - width + 3), times);
  }
};

std::vector<ContributionRow> rows_of(const Comparison& made) {
  std::map<std::tuple<Contribution::Kind, std::string>, ContributionRow> groups;
  for (const Contribution& part : made.contributions) {
    const Timeline& timeline = part.b ? made.timeline_b() : made.timeline_a();
    const SliceId slice = part.b ? part.b : part.a;
    std::string title = part.kind == Contribution::Kind::Gap ? "end of the window" : "";
    if (slice) title = repeated_title(timeline, slice);
    ContributionRow& row = groups[{part.kind, title}];
    row.kind = part.kind;
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

std::string bar(Picoseconds delta, std::int64_t longest) {
  const double share = longest == 0 ? 0 : static_cast<double>(std::abs(delta.count())) / static_cast<double>(longest);
  const auto columns = static_cast<std::size_t>(std::lround(share * half_bar));
  const std::string filled(std::min<std::size_t>(columns, half_bar), '#');
  return delta.count() < 0 ? fmt::format("{:>{}}|{:{}}", filled, half_bar, "", half_bar)
                           : fmt::format("{:{}}|{:<{}}", "", half_bar, filled, half_bar);
}

std::string waterfall_text(const Comparison& made, std::size_t most) {
  const std::vector<ContributionRow> rows = rows_of(made);
  if (rows.empty()) return "";
  std::string out = fmt::format("\n{:>14}   {:<17} {:<11} {:<34} {}\n", "B - A", "", "because of", "", "where");
  const std::int64_t longest = std::abs(rows.front().delta.count());
  const Unit unit = unit_of(longest);
  Picoseconds rest{0};
  std::size_t left = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ContributionRow& row = rows[i];
    if (i >= most) {
      rest += row.delta;
      left += row.count;
      continue;
    }
    out += fmt::format("{:>14}   {} {:<11} {:<34} {}\n", unit.text(row.delta), bar(row.delta, longest),
                       name_of(row.kind), row.what(34), row.place());
  }
  if (left > 0) out += fmt::format("{:>14}   {} {} smaller contributions\n", unit.text(rest), bar(rest, longest), left);
  out += fmt::format("{:>14}   in all\n", unit.text(made.delta));
  return out;
}

std::string families_text(const Comparison& made) {
  std::string out = fmt::format("\n{:<17}{:>9}{:>14}{:>14}{:>12}{:>11}{:>11}{:>12}\n", "matched work", "slices", "A",
                                "B", "B - A", "median", "p90", "worst");
  for (const FamilyError& family : made.families)
    out += fmt::format("{:<17}{:>9}{:>14}{:>14}{:>12}{:>11}{:>11}{:>12}\n", family.family, family.n,
                       duration_text(family.a), duration_text(family.b), percent_text(family.bias_pct, true),
                       percent_text(family.median_pct), percent_text(family.p90_pct), percent_text(family.worst_pct));
  return out;
}

std::string links_text(const Comparison& made) {
  if (made.links.empty()) return "";
  const auto bytes = [](std::optional<std::int64_t> value) { return value ? bytes_text(*value) : "-"; };
  std::string out = fmt::format("\n{:<40}{:>14}{:>14}{:>16}{:>16}\n", "link", "A bytes", "B bytes", "A busy", "B busy");
  for (const LinkUse& link : made.links)
    out += fmt::format("{:<40}{:>14}{:>14}{:>16}{:>16}\n", cut(link.link, 39), bytes(link.a_bytes), bytes(link.b_bytes),
                       duration_text(link.a_busy), duration_text(link.b_busy));
  return out;
}

std::string one_sided_text(char run, const std::vector<OneSided>& names) {
  if (names.empty()) return "";
  std::string out = fmt::format("\nonly in {:<62}{:>10}{:>18}\n", run, "slices", "total");
  for (std::size_t i = 0; i < std::min(names.size(), one_sided_rows); ++i)
    out += fmt::format("  {:<68}{:>10}{:>18}\n", cut(names[i].name.empty() ? "(without a name)" : names[i].name, 67),
                       names[i].count, duration_text(names[i].total));
  if (names.size() > one_sided_rows) out += fmt::format("  ... and {} more names\n", names.size() - one_sided_rows);
  return out;
}

}  // namespace

std::string compare_text(const Comparison& made, const RunLabel& a, const RunLabel& b,
                         const CompareTextOptions& options) {
  std::string out = run_line('A', a, made.a.window, made.a_length) + run_line('B', b, made.b.window, made.b_length);
  out = verdict_text(made, a, b) + "\n" + out;
  out += fmt::format("{} slices matched by {}, {} only in A, {} only in B\n", made.alignment.matched.size(),
                     made.alignment.by(), made.alignment.only_a.size(), made.alignment.only_b.size());
  out += waterfall_text(made, options.rows);
  out += families_text(made);
  out += links_text(made);
  out += one_sided_text('A', made.only_a);
  out += one_sided_text('B', made.only_b);
  return out;
}

}  // namespace stave
