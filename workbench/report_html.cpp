#include "workbench/report_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/path_sections.h"
#include "profiles/export/palette.h"
#include "workbench/compare_rows.h"
#include "workbench/html_parts.h"
#include "workbench/report_text.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

constexpr std::size_t most_ranks_drawn = 64;

std::string head_html(const Report& report, const RunLabel& run, const Problems& problems) {
  const std::string about = fmt::format("{}, {}", run_words(run, report.ranks),
                                        report.window.kind == "all" ? "all of the run" : window_words(report.window));
  std::string out =
      fmt::format("<h1>{}</h1>\n<p class=\"about\">{}</p>\n", xml_text(title_of_run(run)), xml_text(about));
  out += problems_html(problems);
  if (!has_device_work(report))
    return out +
           "<p class=\"note\">No work on a device. A --window, as step:N or 0s..1s, shows what the hosts did.</p>\n";
  out += "<div class=\"figures\">\n" + html_figure(time_words(report.makespan), "makespan");
  if (const RankUse* worst = report.worst()) {
    const std::string of = fmt::format(" (rank {})", worst->rank);
    out += html_figure(percent_text(percent(worst->busy, report.makespan)), "busy" + of);
    if (worst->communication.count() > 0) {
      out += html_figure(percent_text(percent(worst->overlap, worst->communication)), "communication hidden" + of);
      out += html_figure(time_words(worst->exposed_communication), "communication exposed" + of);
    } else {
      out += html_figure("none", "communication" + of);
    }
  }
  if (report.step_median && report.steps.size() > 1)
    out += html_figure(time_words(*report.step_median), fmt::format("median of {} steps", report.steps.size()));
  return out + "</div>\n";
}

struct Part {
  std::string_view fill;
  std::string_view title;
  Picoseconds (*of)(const RankUse&, Picoseconds makespan);
};
// What fills a rank's window; they add up to it.
constexpr Part rank_parts[] = {
    {"#0072b2", "compute alone", [](const RankUse& use, Picoseconds) { return use.compute - use.overlap; }},
    {"#009e73", "compute that hides communication", [](const RankUse& use, Picoseconds) { return use.overlap; }},
    {"#d55e00", "communication exposed, without known waiting",
     [](const RankUse& use, Picoseconds) { return use.exposed_communication - use.idle_arrival; }},
    {"#e9e3a6", "communication that waits for peers or SMs",
     [](const RankUse& use, Picoseconds) { return use.idle_arrival; }},
    {"#e69f00", "copies alone",
     [](const RankUse& use, Picoseconds makespan) {
       return makespan - use.compute - use.exposed_communication - use.idle_host - use.idle_event - use.idle_other;
     }},
    {"#8a94a0", "idle",
     [](const RankUse& use, Picoseconds) { return use.idle_host + use.idle_event + use.idle_other; }},
};

std::string ranks_chart(const Report& report) {
  if (!has_device_work(report) || report.makespan.count() <= 0) return "";
  constexpr double left = 70, right = 90, width = 1000, bar = 20, step = 28;
  const std::size_t drawn = std::min(report.ranks.size(), most_ranks_drawn);
  const double height = step * static_cast<double>(drawn) + 6;
  std::string out = "<section>\n<h2>What each rank's GPU did</h2>\n";
  out += fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"parts of each rank's time\">\n",
      width, height);
  const double scale = (width - left - right) / static_cast<double>(report.makespan.count());
  for (std::size_t i = 0; i < drawn; ++i) {
    const RankUse& use = report.ranks[i];
    const double y = step * static_cast<double>(i) + 2;
    out +=
        fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">rank {}</text>\n", left - 8, y + 15, use.rank);
    out += fmt::format("<rect class=\"track\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n", left,
                       y, width - left - right, bar);
    double x = left;
    for (const Part& part : rank_parts) {
      const Picoseconds time = std::max(part.of(use, report.makespan), Picoseconds{0});
      const double wide = static_cast<double>(time.count()) * scale;
      if (time.count() > 0)
        out += fmt::format(
            "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}: {} "
            "({})</title></rect>\n",
            x, y, wide, bar, part.fill, part.title, time_words(time), percent_text(percent(time, report.makespan)));
      x += wide;
    }
    out += fmt::format("<text class=\"soft\" x=\"{:.0f}\" y=\"{:.1f}\">{} busy</text>\n", width - right + 8, y + 15,
                       percent_text(percent(use.busy, report.makespan)));
  }
  out += "</svg>\n<ul class=\"keys\">";
  for (const Part& part : rank_parts)
    out += fmt::format("<li><svg viewBox=\"0 0 12 12\"><rect width=\"12\" height=\"12\" fill=\"{}\"/></svg>{}</li>",
                       part.fill, part.title);
  out += "</ul>\n";
  if (report.ranks.size() > drawn)
    out += fmt::format("<p class=\"note\">{} more ranks stand in the table only.</p>\n", report.ranks.size() - drawn);
  return out + "</section>\n";
}

std::string rate_words(std::optional<double> bytes_per_s) {
  return bytes_per_s ? fmt::format("{:.1f} GB/s", *bytes_per_s / 1e9) : "-";
}

std::string time_or_dash(std::optional<Picoseconds> time) { return time ? time_words(*time) : "-"; }

std::string ranks_table(const Report& report) {
  if (!has_device_work(report)) return "";
  HtmlRows rows;
  for (const RankUse& use : report.ranks) {
    const std::optional<Picoseconds> wait = report.arrival_wait(use);
    const Time end = std::clamp(use.end, report.window.span.begin, report.window.span.end);
    rows.push_back({fmt::format("{}{}", use.rank, report.worst_rank == use.rank ? " (ends last)" : ""),
                    time_words(end - report.window.span.begin), time_words(use.compute), time_words(use.communication),
                    time_words(use.copy), percent_text(percent(use.overlap, use.communication)),
                    time_words(use.exposed_communication), wait ? time_words(use.residence_wait + *wait) : "-",
                    time_words(use.busy), time_words(use.idle_host), time_words(use.idle_event),
                    time_words(use.idle_arrival), time_words(use.idle_other)});
  }
  return html_table("Ranks",
                    {{"rank", false},
                     {"end"},
                     {"compute"},
                     {"communication"},
                     {"copy"},
                     {"hidden"},
                     {"exposed"},
                     {"waiting"},
                     {"busy"},
                     {"idle: host"},
                     {"idle: another stream"},
                     {"idle: arrival"},
                     {"idle: other"}},
                    rows, rows.size());
}

std::string tables(const Timeline& timeline, const Report& report, std::size_t most) {
  std::string out = html_table_of(
      "Work on devices", {{"name", false}, {"family", false}, {"calls"}, {"total"}, {"median"}, {"p90"}, {"share"}},
      report.kernels, most, [](const KernelReport& kernel) {
        return std::vector<std::string>{kernel.name,
                                        std::string(name_of(kernel.family)),
                                        fmt::format("{}", kernel.calls),
                                        time_words(kernel.total),
                                        time_words(kernel.median),
                                        time_words(kernel.p90),
                                        percent_text(kernel.share_pct)};
      });
  out += html_table_of("Critical path", {{"work", false}, {"rank"}, {"on", false}, {"start"}, {"duration"}},
                       path_sections(timeline, report.critical_path, most), most, [&](const PathSection& section) {
                         const PathPart& part = section.part;
                         const Slice& slice = timeline.slice(part.slice);
                         const std::string name(slice.command ? std::string_view(timeline.command(slice.command).key)
                                                              : timeline.text(slice.name));
                         const Track& track = timeline.track(slice.track);
                         return std::vector<std::string>{path_words(section, name), fmt::format("{}", track.rank),
                                                         track.name, time_words(part.start), time_words(part.duration)};
                       });
  if (!report.critical_path.empty())
    out += fmt::format("<p class=\"note\">{}</p>\n", path_sums(timeline, report.critical_path).text());
  out += "<div class=\"columns\">\n";
  if (report.steps.size() > 1)
    out += html_table_of(
        has_longer_step(report) ? "Steps, as their hosts saw them" : "Steps",
        {{"step", false}, {"phase", false}, {"duration"}, {"exposed"}}, report.steps, most, [](const StepTime& step) {
          return std::vector<std::string>{fmt::format("{}", step.step), std::string(name_of(step.phase)),
                                          time_words(step.duration), time_words(step.exposed_communication)};
        });
  out +=
      html_table_of("Ranges", {{"name", false}, {"calls"}, {"GPU busy"}, {"exposed"}}, report.ranges, most,
                    [](const RangeReport& range) {
                      return std::vector<std::string>{range.name, fmt::format("{}", range.calls), time_words(range.gpu),
                                                      time_words(range.exposed_communication)};
                    });
  out += html_table_of("Collectives",
                       {{"collective", false},
                        {"ranks"},
                        {"bytes"},
                        {"duration"},
                        {"transfer"},
                        {"bus"},
                        {"arrival wait"},
                        {"last rank"}},
                       report.collectives, most, [](const CollectiveReport& at) {
                         return std::vector<std::string>{
                             fmt::format("{} {}:{}", at.op, with_number_ranges(at.communicator), at.sequence),
                             at.ranks ? fmt::format("{}", *at.ranks) : "-",
                             at.bytes ? bytes_text(*at.bytes) : "-",
                             time_words(at.duration),
                             time_or_dash(at.transfer),
                             rate_words(at.bus_bytes_per_s),
                             time_or_dash(at.arrival_wait),
                             at.last_rank ? fmt::format("{}", *at.last_rank) : "-"};
                       });
  out +=
      html_table_of("CUDA graphs", {{"graph", false}, {"launches"}, {"nodes"}, {"median"}}, report.graphs, most,
                    [](const GraphReport& graph) {
                      return std::vector<std::string>{fmt::format("{}", graph.graph), fmt::format("{}", graph.launches),
                                                      fmt::format("{}", graph.nodes), time_words(graph.median)};
                    });
  return out + "</div>\n";
}

}  // namespace

std::string report_html(const TimelineIndex& index, const Report& report, const RunLabel& run, const Problems& problems,
                        const ReportHtmlOptions& options) {
  const TimelineData data = timeline_data({{&index, report.window.span}}, options.most_slices);
  std::string body = head_html(report, run, problems);
  body += ranks_chart(report);
  if (report.makespan.count() > 0) body += timeline_html(data);
  body += ranks_table(report);
  body += tables(index.timeline(), report, options.rows);
  body += fmt::format(
      "<p class=\"note\">Made by stave report --html, version {}. Definitions: docs/report.md of Stave.</p>\n",
      STAVE_VERSION);
  return html_page(fmt::format("{} – Stave report", title_of_run(run)), body,
                   report.makespan.count() > 0 ? data.json : "");
}

}  // namespace stave
