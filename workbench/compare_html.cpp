#include "workbench/compare_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workbench/compare_rows.h"
#include "workbench/html_parts.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

// The colours of the report's chart, by Okabe and Ito.
constexpr std::string_view whole_fill = "#8a94a0", longer_fill = "#d55e00", shorter_fill = "#009e73";

std::string signed_words(Picoseconds delta) {
  if (delta.count() == 0) return "0";
  return (delta.count() < 0 ? "−" : "+") + time_words(delta.count() < 0 ? -delta : delta);
}

std::string what_of_run(const RunLabel& run, const Window& window) {
  return fmt::format("{}{}{}, {}", run.kind, run.mode.empty() ? "" : ", ", run.mode, window_words(window));
}

std::string compare_head(const Comparison& made, const RunLabel& a, const RunLabel& b, const Problems& problems) {
  std::string out = fmt::format("<h1>{} against {}</h1>\n<p class=\"about\">{}</p>\n", xml_text(title_of_run(b)),
                                xml_text(title_of_run(a)), xml_text(verdict_text(made, a, b)));
  out += problems_html(problems);
  out += "<div class=\"figures\">\n";
  out +=
      html_figure(time_words(made.a_length), fmt::format("A: {}: {}", title_of_run(a), what_of_run(a, made.a.window)));
  out +=
      html_figure(time_words(made.b_length), fmt::format("B: {}: {}", title_of_run(b), what_of_run(b, made.b.window)));
  out += html_figure(signed_words(made.delta), "B − A, " + percent_text(made.delta_pct, true) + " of A");
  out += html_figure(fmt::format("{}", made.alignment.matched.size()),
                     fmt::format("slices matched by {}; {} only in A, {} only in B", made.alignment.by(),
                                 made.alignment.only_a.size(), made.alignment.only_b.size()));
  return out + "</div>\n";
}

struct WaterfallBar {
  std::string title;
  std::string_view fill;
  Picoseconds from{};
  Picoseconds to{};
  std::string value;
};

// A's length, what was added and taken away, B's length: each bar begins where the one before ended.
std::vector<WaterfallBar> bars_of(const Comparison& made, const std::vector<ContributionRow>& rows, std::size_t most) {
  std::vector<WaterfallBar> bars{{"A", whole_fill, {}, made.a_length, time_words(made.a_length)}};
  Picoseconds at = made.a_length;
  const auto step = [&](std::string title, Picoseconds delta) {
    bars.push_back(
        {std::move(title), delta.count() < 0 ? shorter_fill : longer_fill, at, at + delta, signed_words(delta)});
    at += delta;
  };
  for (const ContributionRow& row : with_rest(rows, most))
    step(fmt::format("{} {}", name_of(row.kind), row.what(42)), row.delta);
  bars.push_back({"B", whole_fill, {}, made.b_length, time_words(made.b_length)});
  return bars;
}

std::string waterfall_html(const std::vector<WaterfallBar>& bars) {
  constexpr double left = 370, right = 120, width = 1160, bar = 18, step = 24;
  std::int64_t low = 0, high = 1;
  for (const WaterfallBar& one : bars) {
    low = std::min({low, one.from.count(), one.to.count()});
    high = std::max({high, one.from.count(), one.to.count()});
  }
  const double scale = (width - left - right) / static_cast<double>(high - low);
  const auto x_of = [&](Picoseconds time) { return left + static_cast<double>(time.count() - low) * scale; };
  std::string out = "<section>\n<h2>What the difference is made of</h2>\n";
  out += fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"waterfall from A to B; the table "
      "below says the same\">\n",
      width, step * static_cast<double>(bars.size()) + 6);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const WaterfallBar& one = bars[i];
    const double y = step * static_cast<double>(i) + 2;
    const double begin = std::min(x_of(one.from), x_of(one.to)), end = std::max(x_of(one.from), x_of(one.to));
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y + 14,
                       xml_text(cut(one.title, 54)));
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}: {}</title></rect>\n",
        begin, y, std::max(end - begin, 1.0), bar, one.fill, xml_text(one.title), one.value);
    out += fmt::format("<text class=\"soft\" x=\"{:.2f}\" y=\"{:.1f}\">{}</text>\n", end + 6, y + 14, one.value);
    if (i + 1 < bars.size())
      out += fmt::format("<line class=\"axis\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                         x_of(one.to), y + bar, y + step);
  }
  out += "</svg>\n<ul class=\"keys\">";
  for (const auto& [fill, title] : {std::pair{longer_fill, "B takes longer"}, std::pair{shorter_fill, "B takes less"}})
    out += fmt::format("<li><svg viewBox=\"0 0 12 12\"><rect width=\"12\" height=\"12\" fill=\"{}\"/></svg>{}</li>",
                       fill, title);
  return out + "</ul>\n</section>\n";
}

std::string compare_tables(const Comparison& made, const std::vector<ContributionRow>& rows, std::size_t most) {
  const auto bytes = [](std::optional<std::int64_t> value) { return value ? bytes_text(*value) : "-"; };
  std::string out = html_table_of(
      "Contributions", {{"because of", false}, {"kind", false}, {"times"}, {"where", false}, {"B − A"}, {"share"}},
      rows, most, [&](const ContributionRow& row) {
        const bool before = row.kind == Contribution::Kind::Gap && !row.ranks.empty();
        return std::vector<std::string>{(before ? "before " : "") + row.title,
                                        std::string(name_of(row.kind)),
                                        fmt::format("{}", row.count),
                                        row.place(),
                                        signed_words(row.delta),
                                        percent_text(percent(row.delta, made.delta), true)};
      });
  out += html_table_of("Matched work",
                       {{"family", false}, {"slices"}, {"A"}, {"B"}, {"B − A"}, {"median"}, {"p90"}, {"worst"}},
                       made.families, most, [](const FamilyError& family) {
                         return std::vector<std::string>{family.family,
                                                         fmt::format("{}", family.n),
                                                         time_words(family.a),
                                                         time_words(family.b),
                                                         percent_text(family.bias_pct, true),
                                                         percent_text(family.median_pct),
                                                         percent_text(family.p90_pct),
                                                         percent_text(family.worst_pct)};
                       });
  out += html_table_of("Links", {{"link", false}, {"A bytes"}, {"B bytes"}, {"A busy"}, {"B busy"}}, made.links, most,
                       [&](const LinkUse& link) {
                         return std::vector<std::string>{link.link, bytes(link.a_bytes), bytes(link.b_bytes),
                                                         time_words(link.a_busy), time_words(link.b_busy)};
                       });
  const auto one_sided = [](const OneSided& of) {
    return std::vector<std::string>{of.name.empty() ? "(without a name)" : of.name, fmt::format("{}", of.count),
                                    time_words(of.total)};
  };
  out += "<div class=\"columns\">\n";
  out += html_table_of("Only in A", {{"name", false}, {"slices"}, {"total"}}, made.only_a, most, one_sided);
  out += html_table_of("Only in B", {{"name", false}, {"slices"}, {"total"}}, made.only_b, most, one_sided);
  return out + "</div>\n";
}

}  // namespace

std::string compare_html(const Comparison& made, const RunLabel& a, const RunLabel& b, const Problems& problems,
                         const CompareHtmlOptions& options) {
  const std::vector<ContributionRow> rows = contribution_rows(made);
  const TimelineData data = timeline_data(
      {{made.a.index, made.a.window.span, "A"}, {made.b.index, made.b.window.span, "B"}}, options.most_slices);
  std::string body = compare_head(made, a, b, problems);
  body += waterfall_html(bars_of(made, rows, options.bars));
  body += timeline_html(data);
  body += compare_tables(made, rows, options.rows);
  body += fmt::format(
      "<p class=\"note\">Made by stave compare --html, version {}. Definitions: docs/compare.md of Stave.</p>\n",
      STAVE_VERSION);
  return html_page(fmt::format("{} against {} – Stave comparison", title_of_run(b), title_of_run(a)), body, data.json);
}

}  // namespace stave
