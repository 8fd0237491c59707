#include "workbench/report_text.h"

#include <fmt/format.h>

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
  std::string out = fmt::format("{:<6}{:>13}{:>13}{:>13}{:>10}{:>13}{:>13}{:>13}\n", "rank", "end", "compute", "comm",
                                "hidden", "exposed", "waiting", "idle");
  for (const RankUse& use : report.ranks) {
    const Picoseconds idle = use.idle_host + use.idle_event + use.idle_other;
    out += fmt::format("{:<6}{:>13}{:>13}{:>13}{:>10}{:>13}{:>13}{:>13}{}\n", use.rank, duration_text(use.end),
                       duration_text(use.compute), duration_text(use.communication),
                       percent_text(percent(use.overlap, use.communication)), duration_text(use.exposed_communication),
                       duration_text(use.residence_wait + use.arrival_wait), duration_text(idle),
                       report.worst_rank == use.rank ? " <" : "");
  }
  return out;
}

std::string report_text(const Timeline& timeline, const Report& report, const ReportTextOptions& options) {
  std::string out = fmt::format("window    {} {}\nmakespan  {}\n\n", report.window.kind, report.window.label,
                                duration_text(report.makespan));
  out += gantt(timeline, report.window.span);
  out += "\n" + ranks_text(report);

  if (const RankUse* worst = report.worst())
    out += fmt::format("\nrank {} is idle: host {}, another stream {}, arrival {}, other {}\n", worst->rank,
                       duration_text(worst->idle_host), duration_text(worst->idle_event),
                       duration_text(worst->idle_arrival), duration_text(worst->idle_other));

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
  }

  out += fmt::format("\n{:<52}{:>7}{:>13}{:>13}{:>9}\n", "work on devices", "calls", "total", "median", "share");
  for (std::size_t i = 0; i < std::min(options.rows, report.kernels.size()); ++i) {
    const KernelReport& kernel = report.kernels[i];
    out += fmt::format("{:<52}{:>7}{:>13}{:>13}{:>7.1f} %\n", cut(kernel.name, 50), kernel.calls,
                       duration_text(kernel.total), duration_text(kernel.median), kernel.share_pct);
  }
  out += more_text(report.kernels.size(), options.rows);

  if (!report.collectives.empty()) {
    out += fmt::format("\n{:<28}{:>6}{:>11}{:>13}{:>13}{:>13}{:>6}\n", "collective", "ranks", "bytes", "transfer",
                       "bus", "arrival wait", "last");
    for (std::size_t i = 0; i < std::min(options.rows, report.collectives.size()); ++i) {
      const CollectiveReport& at = report.collectives[i];
      out += fmt::format("{:<28}{:>6}{:>11}{:>13}{:>13}{:>13}{:>6}\n",
                         cut(fmt::format("{} {}:{}", at.op, with_number_ranges(at.communicator), at.sequence), 27),
                         at.ranks, at.bytes ? bytes_text(*at.bytes) : "-", duration_text(at.transfer),
                         rate_text(at.bus_bytes_per_s), duration_text(at.arrival_wait), at.last_rank);
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
      out += fmt::format("{:<44}{:>5} {:<17}{:>13}{:>13}\n", cut(path_words(section, name), 43),
                         timeline.track(slice.track).rank, cut(timeline.track(slice.track).name, 16),
                         duration_text(part.start), duration_text(part.duration));
    }
  }
  return out;
}

std::string path_words(const PathSection& section, std::string_view name) {
  if (section.parts > 1) return fmt::format("({} parts) {}", section.parts, name);
  return section.part.kind == PathPart::Kind::Gap ? fmt::format("(gap before) {}", name) : std::string(name);
}

}  // namespace stave
