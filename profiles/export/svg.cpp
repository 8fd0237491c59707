// A picture of a stretch of a run: one row a lane, a bar a slice, nothing from
// outside the file. What is narrower than half a pixel is drawn once for its place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiles/export/exporter.h"
#include "profiles/export/lanes.h"
#include "profiles/export/output_file.h"
#include "profiles/export/palette.h"
#include "profiles/export/texts.h"

namespace stave {
namespace {

// Pixels.
constexpr double left_margin = 190, right_margin = 16, row_height = 18, row_gap = 2, rank_gap = 20, head_height = 66,
                 legend_height = 34, letter_width = 6.1, least_bar = 0.5, least_outlined = 3;
constexpr std::size_t most_rows = 400;

// A step of 1, 2 or 5 times a power of ten, for at most `most` marks.
std::int64_t tick_step(std::int64_t length, int most) {
  std::int64_t step = 1;
  for (int i = 0; length / step > most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

struct AxisUnit {
  std::string_view name;
  std::int64_t ps;
};
AxisUnit axis_unit(std::int64_t length) {
  for (const AxisUnit unit :
       {AxisUnit{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"µs", 1'000'000}, {"ns", 1'000}})
    if (length >= 2 * unit.ps) return unit;
  return {"ps", 1};
}

std::string in_unit(std::int64_t ps, const AxisUnit& unit) {
  std::string text = fmt::format("{:.6f}", static_cast<double>(ps) / static_cast<double>(unit.ps));
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// At most so many characters of a name; empty if too few would be left to mean anything.
std::string fitting(std::string_view name, double width) {
  const auto most = static_cast<std::size_t>(std::max(0.0, (width - 6) / letter_width));
  if (name.size() <= most) return xml_text(name);
  if (most < 4) return "";
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return xml_text(name.substr(0, end)) + "…";
}

class Picture {
 public:
  Picture(RunCursor& run, TimeSpan window, double width, ExportReport& report)
      : run_(run), window_(window), width_(width), report_(report) {}

  Result<void> draw(Progress* progress) {
    return run_.slices(RunCursor::Order::Tracks, false, progress, [&](const SliceRow& row) -> Result<void> {
      slice(row);
      return {};
    });
  }

  // Tracks come in the run's order, so that a rank's may be apart: bars are kept by track.
  std::string text(std::string_view title) {
    finish_track();
    std::stable_sort(tracks_.begin(), tracks_.end(), [&](const TrackRows& a, const TrackRows& b) {
      const Track &x = run_.head().track(a.track), &y = run_.head().track(b.track);
      return std::pair(x.rank, x.kind) < std::pair(y.rank, y.kind);
    });
    std::string body;
    double y = head_height;
    std::optional<std::uint32_t> rank;
    std::size_t rows = 0;
    for (const TrackRows& at : tracks_) {
      const Track& track = run_.head().track(at.track);
      if (rows + at.lanes.size() > most_rows) {
        report_.left_out["tracks beyond the picture's 400 rows"] += 1;
        continue;
      }
      rows += at.lanes.size();
      if (track.rank != rank) {
        if (rank) y += 6;
        rank = track.rank;
        body += fmt::format("<text class=\"rank\" x=\"8\" y=\"{:.1f}\">rank {}</text>\n", y + 13, track.rank);
        y += rank_gap;
      }
      body += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_margin - 8, y + 13,
                          fitting(track.name, left_margin - 16));
      for (const std::string& lane : at.lanes) {
        body += fmt::format("<rect class=\"row\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n", left_margin,
                            y, width_ - left_margin - right_margin, row_height);
        body += fmt::format("<g transform=\"translate(0 {:.1f})\">\n{}</g>\n", y, lane);
        y += row_height + row_gap;
      }
    }
    const double height = y + legend_height + 8;
    return header(title, height) + axis(y) + body + legend(y + 24) + "</svg>\n";
  }

 private:
  struct TrackRows {
    TrackId track{};
    std::vector<std::string> lanes{};
    std::vector<double> drawn_to{};  // by lane: the right end of the last bar
  };

  double x_of(Time time) const {
    const auto length = static_cast<double>((window_.end - window_.start).count());
    const Time in = std::clamp(time, window_.start, window_.end);
    const double part = static_cast<double>((in - window_.start).count()) / length;
    return left_margin + part * (width_ - left_margin - right_margin);
  }

  void finish_track() {
    if (!now_.lanes.empty()) tracks_.push_back(std::move(now_));
    now_ = {};
  }

  void slice(const SliceRow& row) {
    const Track& track = run_.track(row.slice);
    const bool nest = track.kind == TrackKind::Host || track.kind == TrackKind::Range;
    if (row.slice.track != now_.track) {
      finish_track();
      now_.track = row.slice.track;
      places_ = Lanes(nest);
      first_row_.clear();
    }
    const Lanes::Place place = places_.place(row.slice.start.count(), row.slice.end().count());
    // Nested slices stand below what they lie in; a lane of its own comes below all that.
    std::size_t at = 0;
    if (nest) {
      if (first_row_.size() <= place.lane) first_row_.resize(place.lane + 1);
      std::vector<std::size_t>& depths = first_row_[place.lane];
      while (depths.size() <= place.depth) depths.push_back(new_row());
      at = depths[place.depth];
    } else {
      at = place.lane;
      while (now_.lanes.size() <= at) (void)new_row();
    }
    ++report_.slices;
    used_[static_cast<std::size_t>(row.slice.family)] = true;
    const double x0 = x_of(row.slice.start), x1 = std::max(x_of(row.slice.end()), x0 + least_bar);
    if (x1 - x0 <= 2 * least_bar && x1 <= now_.drawn_to[at] + least_bar / 2) return;  // its place is drawn
    now_.drawn_to[at] = x1;
    bar(now_.lanes[at], row, x0, x1);
  }

  // The position of an added row.
  std::size_t new_row() {
    now_.lanes.emplace_back();
    now_.drawn_to.push_back(-1);
    return now_.lanes.size() - 1;
  }

  // The path of its command, where the slice is one's work; a host's slices say what the host did.
  std::string_view path_of(const Slice& slice) const {
    const TrackKind kind = run_.track(slice).kind;
    if (!slice.command || (slice.flags & slice_flags::guessed_command) != 0 || kind == TrackKind::Host ||
        kind == TrackKind::Range)
      return {};
    return run_.head().command(slice.command).key;
  }

  void bar(std::string& out, const SliceRow& row, double x0, double x1) {
    const Slice& slice = row.slice;
    const std::string_view path = path_of(slice);
    const AxisUnit unit = axis_unit(std::max<std::int64_t>(slice.duration.count(), 1));
    const std::string hover =
        fmt::format("{}{}{}\n{} {}, from {} µs", xml_text(path), path.empty() ? "" : "\n", xml_text(row.name),
                    in_unit(slice.duration.count(), unit), unit.name, in_unit(slice.start.count(), {"µs", 1'000'000}));
    out += fmt::format("<g class=\"{}{}\"><title>{}</title><rect x=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\"/>",
                       name_of(slice.family), x1 - x0 < least_outlined ? " thin" : "", hover, x0, x1 - x0, row_height);
    if (row.collective && row.collective->arrival_wait && row.collective->arrival_wait->count() > 0) {
      const double waits_to = std::min(x_of(slice.start + *row.collective->arrival_wait), x1);
      if (waits_to - x0 > 1) {
        any_waits_ = true;
        out += fmt::format("<rect class=\"waits\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\"/>", x0, waits_to - x0,
                           row_height);
      }
    }
    const std::string label = fitting(path.empty() ? row.name : last_of_path(path), x1 - x0);
    if (!label.empty()) out += fmt::format("<text x=\"{:.2f}\" y=\"13\">{}</text>", x0 + 4, label);
    out += "</g>\n";
  }

  std::string header(std::string_view title, double height) const {
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "role=\"img\" aria-label=\"{2}\">\n<title>{2}</title>\n<style>\n"
        "text {{ font: 11px 'DejaVu Sans', Verdana, sans-serif; fill: #222; }}\n"
        ".title {{ font-size: 15px; font-weight: bold; }}\n.rank {{ font-weight: bold; }}\n"
        ".row {{ fill: #f5f5f5; }}\n.grid {{ stroke: #d0d0d0; }}\n"
        "g > rect {{ stroke: #fff; stroke-width: 0.5; }}\n.thin rect {{ stroke: none; }}\n",
        width_, height, xml_text(title));
    for (std::uint8_t f = 0; f < family_count; ++f) {
      const Paint paint = paint_of(static_cast<Family>(f));
      out += fmt::format(".{0} rect {{ fill: {1}; }} .{0} text {{ fill: {2}; }}\n", name_of(static_cast<Family>(f)),
                         paint.fill, paint.text);
    }
    // Behind the families, so that it wins. Stripes: where slices are dense, bars are pale.
    out += "g rect.waits { fill: url(#stripes); stroke: none; }\n</style>\n";
    out +=
        "<defs><pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path d=\"M 0 0 h 3 v 6 h -3 z\" fill=\"#fff\" fill-opacity=\"0.5\"/>"
        "</pattern></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    out += fmt::format("<text class=\"title\" x=\"8\" y=\"22\">{}</text>\n", fitting(title, (width_ - 16) * 0.72));
    return out;
  }

  std::string axis(double bottom) const {
    const std::int64_t length = (window_.end - window_.start).count();
    const AxisUnit unit = axis_unit(length);
    const std::int64_t step = tick_step(length, static_cast<int>((width_ - left_margin) / 110));
    std::string out =
        fmt::format("<text x=\"{}\" y=\"48\" text-anchor=\"end\">time in {}</text>\n", left_margin - 8, unit.name);
    std::int64_t at = window_.start.count() / step * step;
    if (at < window_.start.count()) at += step;
    for (; at <= window_.end.count(); at += step) {
      const double x = x_of(Time{at});
      out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"54\" x2=\"{0:.1f}\" y2=\"{1:.1f}\"/>", x, bottom);
      const bool last = x > width_ - right_margin - 30;
      out += fmt::format("<text x=\"{:.1f}\" y=\"48\" text-anchor=\"{}\">{}</text>\n", last ? x + right_margin - 2 : x,
                         last ? "end" : "middle", in_unit(at, unit));
    }
    return out;
  }

  std::string legend(double y) const {
    std::string out;
    double x = left_margin;
    for (std::uint8_t f = 0; f < family_count; ++f) {
      if (!used_[f]) continue;
      const std::string_view name = name_of(static_cast<Family>(f));
      out += fmt::format(
          "<g class=\"{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"12\" height=\"12\"/></g>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\">{0}</text>\n",
          name, x, y - 10, x + 17, y);
      x += 17 + letter_width * static_cast<double>(name.size()) + 20;
    }
    if (any_waits_)
      out += fmt::format(
          "<g class=\"{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"12\" height=\"12\"/>"
          "<rect class=\"waits\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"12\" height=\"12\"/></g>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\">waits for its peers</text>\n",
          name_of(Family::Collective), x, y - 10, x + 17, y);
    return out;
  }

  RunCursor& run_;
  TimeSpan window_;
  double width_;
  ExportReport& report_;
  TrackRows now_;
  std::vector<std::vector<std::size_t>> first_row_;  // by lane and depth
  std::vector<TrackRows> tracks_;
  Lanes places_{false};
  std::array<bool, family_count> used_{};
  bool any_waits_ = false;
};

}  // namespace

Result<ExportReport> export_svg(RunCursor& run, const ExportOptions& options, const std::string& path,
                                Progress* progress) {
  ExportReport report;
  TRY(const RunCursor::Extent extent, run.extent());
  TimeSpan window = run.filter().all_times() ? extent.span : run.filter().window;
  // A span that a difference can hold: 26 days to each side.
  constexpr Time far{std::int64_t{1} << 61};
  window = {std::clamp(window.start, -far, far), std::clamp(window.end, -far, far)};
  if (window.end <= window.start) window.end = window.start + Picoseconds{1};
  Picture picture(run, window, options.width, report);
  TRY_VOID(picture.draw(progress));
  TRY(OutputFile out, OutputFile::create(path));
  out << picture.text(options.title);
  TRY_VOID(out.close());
  return report;
}

}  // namespace stave
