#include "workbench/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/utilisation.h"
#include "core/base/utf8.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

constexpr std::string_view kinds = "#*=-+";
constexpr std::size_t most_label_columns = 24;
using Fill = std::array<std::int64_t, kinds.size()>;  // picoseconds of each kind in a column

struct GanttRow {
  std::string label;
  std::vector<Fill> columns;
  std::string names;
};

std::size_t kind_of_slice(const TimelineIndex& index, std::uint32_t row) {
  switch (index.work(row)) {
    case WorkKind::Communication: return 2;
    case WorkKind::Compute: return index.timeline().slices()[row].family == Family::Gemm ? 0 : 1;
    default: return 4;
  }
}

std::string_view short_name(const Timeline& timeline, const Slice& slice) {
  return slice.command ? last_of_path(timeline.command(slice.command).key) : timeline.text(slice.name);
}

class Chart {
 public:
  Chart(Interval window, std::size_t width) : window_(window), width_(width) {}

  void fill(GanttRow& row, std::size_t kind, Time begin, Time end) const {
    begin = std::max(begin, window_.begin);
    end = std::min(end, window_.end);
    if (end < begin) return;
    const std::size_t first = column(begin);
    for (std::size_t c = first; c < width_ && (c == first || edge(c) < end); ++c) {
      const std::int64_t part = (std::min(end, edge(c + 1)) - std::max(begin, edge(c))).count();
      row.columns[c][kind] += std::max<std::int64_t>(part, 1);
    }
  }

  void name(GanttRow& row, std::string_view name, Time begin, Time end) const {
    if (end <= window_.begin || begin >= window_.end || name.empty()) return;
    const std::size_t first = column(std::max(begin, window_.begin));
    const std::size_t last = column(std::min(end, window_.end));
    // A name needs a free place and must not run past the bar's end by more than its own length.
    const std::size_t from = std::max(first, row.names.empty() ? std::size_t{0} : row.names.size() + 1);
    if (from > last || from + name.size() > width_) return;
    row.names.append(from - row.names.size(), ' ');
    row.names += name;
  }

 private:
  Time edge(std::size_t c) const {
    const auto length = static_cast<double>(window_.length().count());
    return window_.begin +
           Picoseconds{static_cast<std::int64_t>(length * static_cast<double>(c) / static_cast<double>(width_))};
  }
  std::size_t column(Time t) const {
    const auto length = static_cast<double>(std::max<std::int64_t>(window_.length().count(), 1));
    const double at = static_cast<double>((t - window_.begin).count()) / length * static_cast<double>(width_);
    return std::min(static_cast<std::size_t>(std::max(at, 0.0)), width_ - 1);
  }

  Interval window_;
  std::size_t width_;
};

std::string bar_of(const GanttRow& row) {
  std::string bar;
  for (const Fill& fill : row.columns) {
    const auto most = std::max_element(fill.begin(), fill.end());
    bar += *most == 0 ? '.' : kinds[static_cast<std::size_t>(most - fill.begin())];
  }
  return bar;
}

}  // namespace

std::string gantt(const TimelineIndex& index, Interval window, const GanttOptions& options) {
  const Timeline& timeline = index.timeline();
  std::map<std::uint32_t, std::vector<std::uint32_t>> tracks;  // by rank
  for (std::uint32_t i = 0; i < timeline.tracks().size(); ++i)
    if (is_device_track(timeline.tracks()[i])) tracks[timeline.tracks()[i].rank].push_back(i);
  std::size_t label_width = 0;
  for (const Track& track : timeline.tracks())
    label_width = std::max(label_width, cut(track.name, most_label_columns).size());
  const std::size_t margin = 10 + label_width + 1;
  const std::size_t width = options.columns > margin + 20 ? options.columns - margin : 20;
  const Chart chart(window, width);

  std::string out;
  std::size_t drawn = 0;
  for (const auto& [rank, of_rank] : tracks) {
    if (drawn == options.max_ranks) break;
    ++drawn;
    std::string rank_label = fmt::format("rank {}", rank);
    for (const std::uint32_t track : of_rank) {
      const auto slices = index.rows(TrackId{track});
      if (slices.empty()) continue;
      GanttRow row{cut(timeline.tracks()[track].name, most_label_columns), std::vector<Fill>(width), {}};
      for (const std::uint32_t at : slices) {
        const Slice& slice = timeline.slices()[at];
        const std::size_t kind = kind_of_slice(index, at);
        Time begin = slice.start;
        if (kind == 2) {
          const Time moves = std::min(begin + index.waits(at).sum(), slice.end());
          if (moves > begin) chart.fill(row, 3, begin, moves);
          begin = moves;
        }
        chart.fill(row, kind, begin, slice.end());
        chart.name(row, printable(short_name(timeline, slice)), slice.start, slice.end());
      }
      out += fmt::format("{:<10}{:<{}} {}\n", rank_label, row.label, label_width, bar_of(row));
      if (!row.names.empty()) out += fmt::format("{:{}}{}\n", "", margin, row.names);
      rank_label.clear();
    }
  }
  const std::string begin = duration_text(window.begin), end = duration_text(window.end);
  out += fmt::format("{:{}}{}{:>{}}\n", "", margin, begin, end, width - begin.size());
  if (tracks.size() > drawn) out += fmt::format("{} more ranks are not drawn\n", tracks.size() - drawn);
  out += "# gemm  * compute  = communication  - its waiting  + copy  . idle\n";
  return out;
}

}  // namespace stave
