#include "gui/view/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workbench/units_text.h"

namespace stave::gui {
namespace {

class TopPainter {
 public:
  TopPainter(QPainter& painter, const Canvas& canvas, const Frame& frame, Labels& labels)
      : painter_(painter),
        canvas_(canvas),
        frame_(frame),
        layout_(frame.layout),
        metrics_(frame.layout.metrics),
        theme_(frame.theme),
        labels_(labels) {}

  void minimap(const QImage& picture) {
    fill(0, 0, canvas_.width, layout_.minimap, theme_.names);
    painter_.drawImage(layout_.names, 0, picture);
    const TimeMap time = minimap_time(frame_.scene, frame_.tracks);
    const double left = std::clamp(time.x(frame_.view.time.time(0)), 0.0, static_cast<double>(frame_.tracks));
    const double right =
        std::clamp(time.x(frame_.view.time.time(frame_.tracks)), left, static_cast<double>(frame_.tracks));
    QColor shade = QColor::fromRgb(theme_.window);
    shade.setAlpha(170);
    const int names = layout_.names, bottom = layout_.minimap - 1;
    painter_.fillRect(QRectF(names, 0, left, bottom), shade);
    painter_.fillRect(QRectF(names + right, 0, frame_.tracks - right, bottom), shade);
    painter_.setPen(QColor::fromRgb(theme_.faint));
    painter_.setBrush(Qt::NoBrush);
    const double width = std::max(right - left, static_cast<double>(metrics_.px(3)));
    painter_.drawRect(QRectF(std::floor(names + left) + 0.5, 0.5, std::floor(width) - 1, bottom - 2));
    std::vector<bool> marked(static_cast<std::size_t>(frame_.tracks));
    for (const SliceRef& mark : frame_.scene.marks) {
      const double x = time.x(span_of(frame_.scene, mark).start);
      if (x >= 0 && x < frame_.tracks) marked[static_cast<std::size_t>(x)] = true;
    }
    const int tick = metrics_.px(6);
    for (int x = 0; x < frame_.tracks; ++x)
      if (marked[static_cast<std::size_t>(x)]) fill(names + x, bottom - tick, names + x + 1, bottom, theme_.mark);
    for (const Bookmark& bookmark : frame_.scene.bookmarks) {
      const int x = names + static_cast<int>(std::clamp(time.x(bookmark.time), -1e6, 1e6));
      if (x >= names) fill(x, 0, x + metrics_.px(2), tick, theme_.range);
    }
    fill(0, bottom, canvas_.width, bottom + 1, theme_.line);
    const TimeSpan visible = frame_.view.time.visible();
    text(duration_text(visible.end - visible.start) + " in view", metrics_.px(10), names - metrics_.px(6), 0,
         layout_.minimap, theme_.faint);
  }

  void ruler() {
    const int top = layout_.minimap, bottom = top + layout_.ruler - layout_.steps, names = layout_.names;
    fill(0, top, canvas_.width, bottom, theme_.window);
    if (frame_.scene.measured)
      fill(std::max(measured_x().first, names), top + metrics_.px(2), measured_x().second + 1, bottom - metrics_.px(2),
           blend(theme_.window, theme_.mark, 60));
    const Ticks ticks = ticks_of(frame_.view.time, metrics_.px(90));
    for (const Tick& tick : ticks.ticks) {
      const int x = names + static_cast<int>(std::floor(frame_.view.time.x(tick.time)));
      if (x < names || x >= canvas_.width) continue;
      const int length = metrics_.px(tick.label.empty() ? 3 : 7);
      fill(x, bottom - length, x + 1, bottom, tick.label.empty() ? theme_.line : theme_.faint);
      if (tick.label.empty()) continue;
      const int left = x + metrics_.px(4);
      const int right = left + labels_.mask(tick.label, {.pixels = metrics_.px(11)}).width;
      if (right > canvas_.width || under_a_flag(left, right)) continue;
      text(tick.label, left, canvas_.width, top, bottom - top - metrics_.px(4), theme_.text);
    }
    if (!ticks.anchor.empty())
      text("from " + ticks.anchor, metrics_.px(10), names - metrics_.px(6), top, bottom - top - metrics_.px(4),
           theme_.text);
    for (const Bookmark& bookmark : frame_.scene.bookmarks) flag(bookmark, top);
    selected(bottom);
    if (frame_.scene.measured) measured(top, bottom);
    fill(0, bottom - 1, canvas_.width, bottom, theme_.line);
    fill(names - 1, top, names, bottom, theme_.line);
  }

  void steps() {
    const int bottom = layout_.top(), top = bottom - layout_.steps, names = layout_.names;
    fill(0, top, canvas_.width, bottom, theme_.window);
    if (const RunInView* run = run_with_steps(frame_.scene)) {
      const auto spans = run->timeline->steps();
      const TimeMap time = frame_.view.time.shifted(run->shift);
      int last = -1;
      for (const StepSpan& step : spans) {
        if (step.rank != spans.front().rank) continue;
        const double from = std::max(time.x(step.start), 0.0), to = std::min<double>(time.x(step.end), frame_.tracks);
        const int left = static_cast<int>(std::lround(from)), right = static_cast<int>(std::lround(to));
        if (right <= left || right <= last) continue;
        last = right;
        const bool timed = step.phase == StepPhase::Timed;
        fill(names + left, top + 1, names + std::max(right - 1, left + 1), bottom - 2,
             timed ? theme_.run_header : theme_.header);
        if (right - left < metrics_.px(24)) continue;
        std::string name = step.label.empty() ? fmt::format("step {}", step.step) : step.label;
        if (!timed) name += " (warm-up)";
        text(name, names + left + metrics_.px(4), names + right - metrics_.px(2), top, bottom - top - 1, theme_.text,
             10);
      }
      text("Steps", metrics_.px(10), names, top, bottom - top - 1, theme_.faint, 10);
    }
    fill(0, bottom - 1, canvas_.width, bottom, theme_.line);
  }

 private:
  void fill(int left, int top, int right, int bottom, Rgb colour) {
    left = std::max(left, 0);
    right = std::min(right, canvas_.width);
    for (int y = std::max(top, 0); y < std::min(bottom, canvas_.bottom) && left < right; ++y)
      std::fill(canvas_.line(y) + left, canvas_.line(y) + right, colour);
  }

  void text(std::string_view what, int x, int right, int y, int height, Rgb colour, int pixels = 11) {
    const LabelStyle style{.pixels = metrics_.px(pixels)};
    labels_.draw(canvas_, what, style, x, y + (height - labels_.mask(what, style).height) / 2, right, colour);
  }

  int flag_x(const Bookmark& bookmark) const {
    return layout_.names + static_cast<int>(std::clamp(std::floor(frame_.view.time.x(bookmark.time)), -1e6, 1e6));
  }

  // Half a label reads as another one.
  bool under_a_flag(int left, int right) {
    return std::any_of(frame_.scene.bookmarks.begin(), frame_.scene.bookmarks.end(), [&](const Bookmark& bookmark) {
      const int x = flag_x(bookmark);
      const int width = labels_.mask(bookmark.text, {.pixels = metrics_.px(10)}).width;
      return x < right && x + metrics_.px(8) + std::min(width, metrics_.px(140)) > left;
    });
  }

  void flag(const Bookmark& bookmark, int top) {
    const int x = flag_x(bookmark);
    if (x < layout_.names || x >= canvas_.width) return;
    const LabelStyle style{.pixels = metrics_.px(10)};
    const LabelMask& mask = labels_.mask(bookmark.text, style);
    const int right = x + metrics_.px(8) + std::min(mask.width, metrics_.px(140));
    const int height = metrics_.px(14);
    fill(x, top, right, top + height, theme_.range);
    labels_.draw(canvas_, bookmark.text, style, x + metrics_.px(4), top + (height - mask.height) / 2, right,
                 text_on(theme_.range));
  }

  // Where the current slice is, also where its row is scrolled out.
  void selected(int bottom) {
    if (frame_.scene.selection.empty()) return;
    const TimeSpan span = span_of(frame_.scene, frame_.scene.selection.front());
    const double left = std::clamp(frame_.view.time.x(span.start), 0.0, static_cast<double>(frame_.tracks));
    const double right = std::clamp(frame_.view.time.x(span.end), 0.0, static_cast<double>(frame_.tracks));
    const int x = layout_.names + static_cast<int>(left);
    fill(x, bottom - metrics_.px(3), std::max(layout_.names + static_cast<int>(right), x + metrics_.px(3)), bottom - 1,
         theme_.accent);
  }

  std::pair<int, int> measured_x() const {
    const auto [begin, end] = std::minmax(frame_.scene.measured->start, frame_.scene.measured->end);
    const auto x = [&](Time time) {
      return layout_.names + static_cast<int>(std::clamp(frame_.view.time.x(time), -1.0, frame_.tracks + 1.0));
    };
    return {x(begin), x(end)};
  }

  void measured(int top, int bottom) {
    const auto [left, right] = measured_x();
    const auto [begin, end] = std::minmax(frame_.scene.measured->start, frame_.scene.measured->end);
    const LabelStyle style{.pixels = metrics_.px(11), .bold = true};
    const std::string length = duration_text(end - begin);
    const LabelMask& mask = labels_.mask(length, style);
    const int x =
        std::clamp((left + right - mask.width) / 2, layout_.names, std::max(layout_.names, canvas_.width - mask.width));
    fill(x - metrics_.px(4), top + metrics_.px(3), x + mask.width + metrics_.px(4), bottom - metrics_.px(3),
         theme_.mark);
    labels_.draw(canvas_, length, style, x, top + (bottom - top - mask.height) / 2, canvas_.width,
                 text_on(theme_.mark));
  }

  QPainter& painter_;
  const Canvas& canvas_;
  const Frame& frame_;
  const Layout& layout_;
  const Metrics& metrics_;
  const Theme& theme_;
  Labels& labels_;
};

}  // namespace

MinimapKey minimap_key(const Frame& frame) {
  MinimapKey key{frame.tracks, frame.layout.minimap, frame.scene.dark, frame.scene.colour_by, {}};
  for (const RunInView& run : frame.scene.runs) key.runs.push_back({run.lod, run.deltas, run.shift, run.ghost});
  return key;
}

TimeMap minimap_time(const Scene& scene, int width) {
  return {with_margin(extent_of(scene)), static_cast<double>(width)};
}

QImage minimap_picture(const Frame& frame) {
  QImage image(frame.tracks, frame.layout.minimap, QImage::Format_RGB32);
  image.fill(frame.theme.row);
  const Canvas canvas = canvas_of(image);
  const TimeMap time = minimap_time(frame.scene, frame.tracks);
  const auto& runs = frame.scene.runs;
  const int space = frame.layout.metrics.px(3);
  const int height = (frame.layout.minimap - 2 * space) / static_cast<int>(std::min<std::size_t>(runs.size(), 4));
  for (std::size_t number = 0; number < std::min<std::size_t>(runs.size(), 4); ++number) {
    std::vector<std::pair<std::size_t, TrackId>> devices, all;
    const auto tracks = runs[number].timeline->tracks();
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].kind == TrackKind::Counter || runs[number].lod->track(TrackId{i}).empty()) continue;
      all.emplace_back(number, TrackId{i});
      if (is_device_track(tracks[i])) devices.push_back(all.back());
    }
    paint_summary(frame, devices.empty() ? all : devices, time, canvas, 0, space + static_cast<int>(number) * height,
                  std::max(1, height - 1), false);
  }
  return image;
}

void paint_top(QPainter& painter, const Canvas& canvas, const Frame& frame, const QImage& minimap, Labels& labels) {
  TopPainter top(painter, canvas, frame, labels);
  if (frame.layout.minimap > 0) top.minimap(minimap);
  if (frame.layout.ruler > 0) top.ruler();
  if (frame.layout.steps > 0) top.steps();
}

}  // namespace stave::gui
