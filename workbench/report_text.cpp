#include "workbench/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/utf8.h"
#include "workbench/compare_rows.h"
#include "workbench/gantt.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

std::string rate_text(std::optional<double> bytes_per_s) {
  return bytes_per_s ? fmt::format("{:.1f} GB/s", *bytes_per_s / 1e9) : "-";
}

std::string more_text(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("  ... and {} more\n", all - shown) : "";
}

}  // namespace

std::string ranks_text(const Report& report) {
  std::string out = fmt::format("{:<6}{:>12}{:>12}{:>12}{:>9}{:>12}{:>12}{:>12}{:>12}\n", "rank", "compute", "comm",
                                "copy", "hidden", "exposed", "waiting", "busy", "idle");
  for (const RankUse& use : report.ranks) {
    const std::optional<Picoseconds> wait = report.arrival_wait(use);
    out += fmt::format("{:<6}{:>12}{:>12}{:>12}{:>9}{:>12}{:>12}{:>12}{:>12}\n",
                       fmt::format("{}{}", use.rank, report.worst_rank == use.rank ? " <" : ""),
                       duration_text(use.compute), duration_text(use.communication), duration_text(use.copy),
                       percent_text(percent(use.overlap, use.communication)), duration_text(use.exposed_communication),
                       wait ? duration_text(use.residence_wait + *wait) : "-", duration_text(use.busy),
                       duration_text(report.makespan - use.busy));
  }
  return out;
}

bool has_device_work(const Report& report) {
  return std::ranges::any_of(report.ranks, [](const RankUse& use) {
    return std::ranges::any_of(use.streams, [](const StreamUse& stream) { return stream.commands > 0; });
  });
}

std::string report_text(const Timeline& timeline, const Report& report, const ReportTextOptions& options) {
  std::string out = fmt::format("window    {}\nmakespan  {}\n\n", printable(window_words(report.window)),
                                duration_text(report.makespan));
  if (has_device_work(report)) {
    out += gantt(timeline, report.window.span) + "\n" + ranks_text(report);
    if (const RankUse* worst = report.worst())
      out += fmt::format("\nrank {} is idle for {}: host {}, another stream {}, arrival {}, other {}\n", worst->rank,
                         duration_text(report.makespan - worst->busy), duration_text(worst->idle_host),
                         duration_text(worst->idle_event), duration_text(worst->idle_arrival),
                         duration_text(worst->idle_other));
  } else {
    out += "no work on a device\n";
  }

  if (report.steps.size() > 1) {
    out += fmt::format("\n{:<12}{:<10}{:>13}{:>13}\n", "step", "phase", "duration", "exposed");
    for (std::size_t i = 0; i < std::min(options.rows, report.steps.size()); ++i) {
      const StepTime& step = report.steps[i];
      out += fmt::format("{:<12}{:<10}{:>13}{:>13}\n", step.step, name_of(step.phase), duration_text(step.duration),
                         duration_text(step.exposed_communication));
    }
    out += more_text(report.steps.size(), options.rows);
    if (report.step_median)
      out += fmt::format("{:<22}{:>13}, p90 {}\n", "median of timed", duration_text(*report.step_median),
                         duration_text(*report.step_p90));
    if (has_longer_step(report))
      out += "a step lasts until its host has seen the end, the makespan until the last work on a device\n";
  }

  if (!report.kernels.empty())
    out += fmt::format("\n{:<52}{:>7}{:>13}{:>13}{:>9}\n", "work on devices", "calls", "total", "median", "share");
  for (std::size_t i = 0; i < std::min(options.rows, report.kernels.size()); ++i) {
    const KernelReport& kernel = report.kernels[i];
    out += fmt::format("{:<52}{:>7}{:>13}{:>13}{:>7.1f} %\n", cut(kernel.name, 50), kernel.calls,
                       duration_text(kernel.total), duration_text(kernel.median), kernel.share_pct);
  }
  out += more_text(report.kernels.size(), options.rows);

  if (!report.collectives.empty()) {
    const auto time = [](std::optional<Picoseconds> value) { return value ? duration_text(*value) : "-"; };
    out += fmt::format("\n{:<27}{:>6}{:>11}{:>12}{:>12}{:>12}{:>13}{:>6}\n", "collective", "ranks", "bytes", "duration",
                       "transfer", "bus", "arrival wait", "last");
    for (std::size_t i = 0; i < std::min(options.rows, report.collectives.size()); ++i) {
      const CollectiveReport& at = report.collectives[i];
      out += fmt::format("{:<27}{:>6}{:>11}{:>12}{:>12}{:>12}{:>13}{:>6}\n",
                         cut(fmt::format("{} {}:{}", at.op, with_number_ranges(at.communicator), at.sequence), 26),
                         at.ranks ? fmt::format("{}", *at.ranks) : "-", at.bytes ? bytes_text(*at.bytes) : "-",
                         duration_text(at.duration), time(at.transfer), rate_text(at.bus_bytes_per_s),
                         time(at.arrival_wait), at.last_rank ? fmt::format("{}", *at.last_rank) : "-");
    }
    out += more_text(report.collectives.size(), options.rows);
  }

  if (!report.ranges.empty()) {
    out += fmt::format("\n{:<52}{:>7}{:>13}{:>13}\n", "range", "calls", "GPU busy", "exposed");
    for (std::size_t i = 0; i < std::min(options.rows, report.ranges.size()); ++i) {
      const RangeReport& range = report.ranges[i];
      out += fmt::format("{:<52}{:>7}{:>13}{:>13}\n", cut(range.name, 50), range.calls, duration_text(range.gpu),
                         duration_text(range.exposed_communication));
    }
    out += more_text(report.ranges.size(), options.rows);
  }

  if (!report.graphs.empty()) {
    out += fmt::format("\n{:<12}{:>10}{:>10}{:>13}\n", "CUDA graph", "launches", "nodes", "median");
    for (std::size_t i = 0; i < std::min(options.rows, report.graphs.size()); ++i) {
      const GraphReport& graph = report.graphs[i];
      out += fmt::format("{:<12}{:>10}{:>10}{:>13}\n", graph.graph, graph.launches, graph.nodes,
                         duration_text(graph.median));
    }
    out += more_text(report.graphs.size(), options.rows);
  }

  if (!report.critical_path.empty()) {
    out += fmt::format("\n{:<44}{:>5} {:<17}{:>13}{:>13}\n", "critical path", "rank", "on", "start", "duration");
    for (const PathSection& section : path_sections(timeline, report.critical_path, 2 * options.rows)) {
      const PathPart& part = section.part;
      const Slice& slice = timeline.slice(part.slice);
      const std::string_view name =
          slice.command ? std::string_view(timeline.command(slice.command).key) : timeline.text(slice.name);
      out += fmt::format("{:<44}{:>5} {:<17}{:>13}{:>13}\n", path_words(section, name, 43),
                         timeline.track(slice.track).rank, cut(timeline.track(slice.track).name, 16),
                         duration_text(part.start), duration_text(part.duration));
    }
    out += path_sums(timeline, report.critical_path).text() + "\n";
  }
  return out;
}

std::string path_words(const PathSection& section, std::string_view name, std::size_t width) {
  const std::string before = section.part.kind == PathPart::Kind::Gap ? "(gap before) " : "";
  const std::string after =
      section.parts > 1 ? fmt::format(" and {} other{}", section.parts - 1, section.parts > 2 ? "s" : "") : "";
  const std::size_t around = before.size() + after.size();
  return before + cut(name, width > around + 8 ? width - around : 8) + after;
}

PathSums path_sums(const Timeline& timeline, std::span<const PathPart> path) {
  PathSums sums;
  for (const PathPart& part : path) {
    const bool on_device = is_device_track(timeline.track(timeline.slice(part.slice).track));
    (part.kind == PathPart::Kind::Gap ? sums.gaps : on_device ? sums.device : sums.host) += part.duration;
  }
  return sums;
}

std::string PathSums::text() const {
  return fmt::format("of it work on devices {}, on hosts {}, gaps {}", duration_text(device), duration_text(host),
                     duration_text(gaps));
}

bool has_longer_step(const Report& report) {
  return report.window.kind == "all" &&
         std::ranges::any_of(report.steps, [&](const StepTime& step) { return step.duration > report.makespan; });
}

}  // namespace stave
