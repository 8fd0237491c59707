#include "gui/view/paint_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/view/number_text.h"

namespace stave::gui {
namespace {

constexpr int label_lane = 10;      // logical; lower lanes have no labels
constexpr int label_width = 22;     // logical; narrower slices have none
constexpr unsigned off_path = 190;  // of 256: how pale the slices beside a critical path are

Rgb beside_path(const Frame& frame, Rgb colour) { return blend(colour, frame.theme.row, off_path); }

// One lane's lines: above `bar_top` a column shows `under`, from there on `bar`.
struct Lines {
  std::vector<Rgb> under, bar;
  std::vector<int> bar_top;

  void reset(const std::vector<Rgb>& background, int height) {
    under = background;
    bar.assign(background.size(), 0);
    bar_top.assign(background.size(), height);
  }

  void write(const Canvas& canvas, int x, int y, int height) const {
    for (int line = std::max(0, canvas.top - y); line < std::min(height, canvas.bottom - y); ++line) {
      Rgb* to = canvas.line(y + line) + x;
      for (std::size_t i = 0; i < under.size(); ++i) to[i] = line >= bar_top[i] ? bar[i] : under[i];
    }
  }
};

void fill(const Canvas& canvas, int x, int right, int y, int bottom, Rgb colour) {
  for (int line = std::max(y, canvas.top); line < std::min(bottom, canvas.bottom); ++line)
    std::fill(canvas.line(line) + std::max(x, 0), canvas.line(line) + std::min(right, canvas.width), colour);
}

// Pointing right where `closed`, else down.
void fold_mark(const Canvas& canvas, int x, int y, int size, bool closed, Rgb colour) {
  for (int line = 0; line < size; ++line)
    for (int column = 0; column < size; ++column) {
      const int across = closed ? line : column, along = closed ? column : line;
      if (2 * std::min(across, size - 1 - across) < along || y + line < canvas.top || y + line >= canvas.bottom)
        continue;
      canvas.line(y + line)[x + column] = colour;
    }
}

int bar_height(float busy, int height) {
  const int rounded_up = static_cast<int>(std::min(busy, 1.0f) * static_cast<float>(height) + 0.99f);
  return std::clamp(rounded_up, std::min(std::max(2, height / 5), height), height);
}

class RowPainter {
 public:
  RowPainter(const Frame& frame, const PlacedRow& placed, const Canvas& canvas, std::vector<Caption>& captions)
      : frame_(frame),
        scene_(frame.scene),
        metrics_(frame.layout.metrics),
        placed_(placed),
        row_(scene_.rows[placed.row]),
        run_(scene_.runs[row_.run]),
        colours_(frame.colours[row_.run]),
        time_(frame.view.time.shifted(run_.shift)),
        canvas_(canvas),
        captions_(captions),
        top_(top_of(frame.layout, frame.view, placed)) {}

  void paint() {
    if (row_.header()) {
      header();
    } else {
      fill_background();
      const TrackLod& track = run_.lod->track(row_.track);
      if (track.lanes.empty()) {
        counter(track.counter);
      } else if (placed_.lanes < static_cast<int>(track.lanes.size())) {
        std::vector<std::pair<std::size_t, TrackId>> all{{row_.run, row_.track}};
        paint_summary(frame_, all, frame_.view.time, canvas_, frame_.layout.names, top_ + 1, placed_.lane_height - 1);
      } else {
        for (std::size_t i = 0; i < track.lanes.size(); ++i)
          lane(track.lanes[i], top_ + static_cast<int>(i) * placed_.lane_height);
      }
    }
    names();
  }

 private:
  int bottom() const { return top_ + placed_.height; }

  void fill_background() {
    for (int line = std::max(top_, canvas_.top); line < std::min(bottom(), canvas_.bottom); ++line) {
      const bool last = line == bottom() - 1 && placed_.height > 8;
      Rgb* to = canvas_.line(line) + frame_.layout.names;
      if (last) {
        std::fill(to, to + frame_.tracks, frame_.theme.grid);
      } else {
        std::copy(frame_.background.begin(), frame_.background.end(), to);
      }
    }
  }

  void header() {
    fill(canvas_, frame_.layout.names, canvas_.width, top_, bottom(), header_colour());
    fill(canvas_, 0, canvas_.width, bottom() - 1, bottom(), frame_.theme.line);
    if (!row_.folded) return;
    std::vector<std::pair<std::size_t, TrackId>> devices, all;
    for (std::size_t i = placed_.row + 1; i < row_end(scene_.rows, placed_.row); ++i) {
      const Row& row = scene_.rows[i];
      if (row.kind != Row::Kind::Track || row.hidden) continue;
      all.emplace_back(row.run, row.track);
      if (is_device_track(scene_.runs[row.run].timeline->track(row.track))) devices.push_back(all.back());
    }
    const int space = metrics_.px(placed_.height > metrics_.px(14) ? 4 : 1);
    paint_summary(frame_, devices.empty() ? all : devices, frame_.view.time, canvas_, frame_.layout.names, top_ + space,
                  placed_.height - 2 * space);
  }

  Rgb header_colour() const {
    if (row_.kind == Row::Kind::Run) return frame_.theme.run_header;
    return row_.kind == Row::Kind::Rank ? frame_.theme.header : blend(frame_.theme.header, frame_.theme.names, 150);
  }

  void lane(const LaneLod& lane, int y) {
    const bool difference = row_.kind == Row::Kind::Difference;
    const int above = placed_.lane_height > 5 ? 1 : 0;
    const int height = placed_.lane_height - above;
    const auto slices = run_.timeline->slices();
    lane_columns(lane, slices, time_, columns_, wide_);
    lines_.reset(frame_.background, height);
    const std::vector<bool>& path = frame_.on_path[row_.run];
    for (const WideSlice& wide : wide_) {
      const Slice& slice = slices[wide.row];
      Rgb colour = difference ? colours_.delta(wide.row) : colours_.of(slice, wide.row);
      if (!path.empty() && !path[wide.row]) colour = beside_path(frame_, colour);
      std::fill(lines_.under.begin() + wide.left, lines_.under.begin() + wide.right, colour);
      // Slices that touch are told apart by their left edges.
      if (wide.right - wide.left >= 3) lines_.under[static_cast<std::size_t>(wide.left)] = edge_of(colour);
      if (!difference) label(slice, wide, colour, y + above, height);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].busy == 0) continue;
      Rgb colour = difference ? colours_.delta(columns_[i], lane) : colours_.of(columns_[i], lane, row_.track);
      if (!path.empty()) colour = beside_path(frame_, colour);
      lines_.bar[i] = colour;
      lines_.bar_top[i] = difference ? 0 : height - bar_height(columns_[i].busy, height);
    }
    lines_.write(canvas_, frame_.layout.names, y + above, height);
  }

  Rgb edge_of(Rgb fill) const { return blend(fill, scene_.dark ? 0xff000000 : 0xffffffff, 90); }

  void label(const Slice& slice, const WideSlice& wide, Rgb fill, int y, int height) {
    const int space = metrics_.px(4);
    if (height < metrics_.px(label_lane) || wide.right - wide.left < metrics_.px(label_width)) return;
    if (y + height <= canvas_.top || y >= canvas_.bottom) return;
    const int names = frame_.layout.names;
    captions_.push_back({.text = std::string(label_of(slice)),
                         .x = names + wide.left + space,
                         .right = names + wide.right - 1,
                         .y = y,
                         .height = height,
                         .colour = text_on(fill),
                         .style = {.pixels = label_pixels(height)}});
  }

  // On a device the command, which a person wrote: the last element of its path.
  std::string_view label_of(const Slice& slice) const {
    const Timeline& timeline = *run_.timeline;
    if (!slice.command || (slice.flags & slice_flags::guessed_command) || !is_device_track(timeline.track(slice.track)))
      return short_name(timeline.text(slice.name));
    return last_of_path(timeline.command(slice.command).key);
  }

  int label_pixels(int height) const { return std::min(metrics_.px(11), std::max(metrics_.px(8), height * 2 / 3)); }

  void counter(const CounterLod& counter) {
    const double low = std::min(0.0, counter.all.min), high = std::max(counter.all.max, low);
    const int height = placed_.height - metrics_.px(4), space = metrics_.px(2);
    const auto y_of = [&](double value) {
      const double part = high > low ? (value - low) / (high - low) : 0;
      return space + static_cast<int>(std::lround((1 - part) * (height - space - 1)));
    };
    const Rgb line_colour = frame_.theme.counter, area = blend(frame_.theme.row, line_colour, 70);
    const int zero = y_of(0);
    for (int x = 0; x < frame_.tracks; ++x) {
      CounterExtent extent;
      const Time begin = time_.time(x), end = std::max(time_.time(x + 1), begin + 1_ps);
      if (!counter.extent(begin, end, extent)) continue;
      const int upper = y_of(extent.max), lower = y_of(extent.min);
      const int first = std::min(upper, zero), last = std::max(lower, zero);
      for (int y = std::max(first, canvas_.top - top_); y <= std::min(last, canvas_.bottom - top_ - 1); ++y)
        canvas_.line(top_ + y)[frame_.layout.names + x] = y >= upper && y <= lower ? line_colour : area;
    }
    if (placed_.height < metrics_.px(28)) return;
    captions_.push_back({.text = "max " + number_text(counter.all.max, run_.timeline->track(row_.track).unit),
                         .x = text_x(),
                         .right = frame_.layout.names - metrics_.px(6),
                         .y = top_ + metrics_.px(17),
                         .height = metrics_.px(14),
                         .colour = frame_.theme.faint,
                         .style = {.pixels = metrics_.px(10)}});
  }

  void names() {
    const int names = frame_.layout.names;
    if (names == 0) return;
    fill(canvas_, 0, names - 1, top_, bottom(), row_.header() ? header_colour() : frame_.theme.names);
    fill(canvas_, names - 1, names, top_, bottom(), frame_.theme.line);
    fill(canvas_, 0, names - 1, bottom() - 1, bottom(), row_.header() ? frame_.theme.line : frame_.theme.grid);
    const int first = std::min(placed_.height, metrics_.px(20));
    if (first < metrics_.px(8)) return;
    const int indent = metrics_.px(8 + 12 * row_.depth);
    const bool folds = row_.header() || run_.lod->track(row_.track).lanes.size() > 1;
    const int mark = metrics_.px(7);
    if (folds && row_.kind != Row::Kind::Difference)
      fold_mark(canvas_, indent, top_ + (first - mark) / 2, mark, row_.folded, frame_.theme.faint);
    const Rgb colour = row_.kind == Row::Kind::Difference || run_.ghost ? frame_.theme.faint : frame_.theme.text;
    std::string text = row_.name;
    if (row_.pinned) text = place_name() + text;
    captions_.push_back({.text = std::move(text),
                         .x = text_x(),
                         .right = names - metrics_.px(6),
                         .y = top_,
                         .height = first,
                         .colour = colour,
                         .style = {.pixels = std::min(metrics_.px(metrics_.lane < label_lane ? 9 : 12),
                                                      std::max(metrics_.px(7), first * 3 / 4)),
                                   .bold = row_.header() && row_.kind != Row::Kind::Group}});
    if (row_.tag.empty()) return;
    Caption tag = captions_.back();
    tag.text = row_.tag;
    tag.colour = frame_.theme.faint;
    tag.follows = true;
    captions_.push_back(std::move(tag));
  }

  int text_x() const { return metrics_.px(21 + 12 * row_.depth); }

  // A pinned row has left its header.
  std::string place_name() const {
    const std::string run = scene_.runs.size() > 1 && row_.tag.empty() ? run_.title + " · " : std::string();
    return fmt::format("{}rank {} · ", run, row_.rank);
  }

  const Frame& frame_;
  const Scene& scene_;
  const Metrics& metrics_;
  const PlacedRow& placed_;
  const Row& row_;
  const RunInView& run_;
  const SliceColours& colours_;
  const TimeMap time_;
  const Canvas& canvas_;
  std::vector<Caption>& captions_;
  const int top_;
  std::vector<Column> columns_;
  std::vector<WideSlice> wide_;
  Lines lines_;
};

}  // namespace

void paint_row(const Frame& frame, const PlacedRow& placed, const Canvas& canvas, std::vector<Caption>& captions) {
  RowPainter(frame, placed, canvas, captions).paint();
}

void paint_summary(const Frame& frame, const std::vector<std::pair<std::size_t, TrackId>>& tracks, const TimeMap& time,
                   const Canvas& canvas, int x, int y, int height, bool pale) {
  const auto width = static_cast<std::size_t>(std::max(0.0, std::ceil(time.width())));
  std::vector<float> busy(width);
  std::vector<Rgb> colour(width);
  std::vector<Column> columns;
  for (const auto& [number, track] : tracks) {
    const RunInView& run = frame.scene.runs[number];
    for (const LaneLod& lane : run.lod->track(track).lanes) {
      lane_columns(lane, run.timeline->slices(), time.shifted(run.shift), columns);
      for (std::size_t i = 0; i < width; ++i) {
        if (columns[i].busy <= busy[i]) continue;
        busy[i] = columns[i].busy;
        colour[i] = frame.colours[number].of(columns[i], lane, track);
        if (pale && !frame.on_path[number].empty()) colour[i] = beside_path(frame, colour[i]);
      }
    }
  }
  for (std::size_t i = 0; i < width; ++i) {
    if (busy[i] == 0) continue;
    const int top = y + height - bar_height(busy[i], height);
    for (int line = std::max(top, canvas.top); line < std::min(y + height, canvas.bottom); ++line)
      canvas.line(line)[x + static_cast<int>(i)] = colour[i];
  }
}

}  // namespace stave::gui
