#include "workbench/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workbench/compare_rows.h"
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

std::string run_line(char name, const RunLabel& run, const Window& window, Picoseconds length) {
  const std::string what =
      fmt::format("{}{}{}, {}", run.kind, run.mode.empty() ? "" : ", ", run.mode, window_words(window));
  return fmt::format("{}  {:<42} {:<36}{:>16}\n", name, cut(title_of_run(run), 42), cut(what, 36),
                     duration_text(length));
}

std::string bar(Picoseconds delta, std::int64_t longest) {
  const double share = longest == 0 ? 0 : static_cast<double>(std::abs(delta.count())) / static_cast<double>(longest);
  const auto columns = static_cast<std::size_t>(std::lround(share * half_bar));
  const std::string filled(std::min<std::size_t>(columns, half_bar), '#');
  return delta.count() < 0 ? fmt::format("{:>{}}|{:{}}", filled, half_bar, "", half_bar)
                           : fmt::format("{:{}}|{:<{}}", "", half_bar, filled, half_bar);
}

std::string without_end_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string waterfall_text(const Comparison& made, std::size_t most) {
  const std::vector<ContributionRow> rows = with_rest(contribution_rows(made), most);
  if (rows.empty()) return "";
  std::string out = fmt::format("\n{:>14}   {:<17} {:<11} {:<34} {}\n", "B - A", "", "because of", "", "where");
  std::int64_t longest = 0;
  for (const ContributionRow& row : rows) longest = std::max(longest, std::abs(row.delta.count()));
  const Unit unit = unit_of(longest);
  for (const ContributionRow& row : rows)
    out += without_end_blanks(fmt::format("{:>14}   {} {:<11} {:<34} {}", unit.text(row.delta), bar(row.delta, longest),
                                          name_of(row.kind), row.what(34), row.place())) +
           '\n';
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
  out = verdict_text(made, a, b) + "\n\n" + out;
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
