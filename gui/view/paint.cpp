#include "gui/view/paint.h"

#include <QPainter>
#include <algorithm>

#include "gui/view/overlay.h"
#include "gui/view/paint_rows.h"
#include "gui/view/parallel.h"
#include "gui/view/ruler.h"

namespace stave::gui {

struct PaintCache::State {
  Labels labels;
  QImage minimap;
  MinimapKey minimap_key;
  std::vector<std::vector<Caption>> captions;  // by row; kept for its memory
};

PaintCache::PaintCache() : state_(std::make_unique<State>()) {}
PaintCache::~PaintCache() = default;

namespace {

struct RowJob {
  const PlacedRow* placed;
  Canvas canvas;
};

std::vector<RowJob> rows_in_view(const Layout& layout, const Viewport& view, const Canvas& all) {
  std::vector<RowJob> jobs;
  for (const PlacedRow& placed : layout.rows) {
    const int top = top_of(layout, view, placed);
    Canvas canvas = all;
    canvas.top = placed.pinned ? layout.top() : layout.rows_top();
    canvas.bottom = placed.pinned ? std::min(all.bottom, layout.rows_top()) : all.bottom;
    if (top + placed.height > canvas.top && top < canvas.bottom) jobs.push_back({&placed, canvas});
  }
  return jobs;
}

// Where no row is.
void paint_empty(const Frame& frame, const Canvas& canvas) {
  const Layout& layout = frame.layout;
  const auto fill = [&](int from, int to, Rgb colour) {
    for (int y = std::max(from, 0); y < std::min(to, canvas.bottom); ++y)
      std::fill(canvas.line(y), canvas.line(y) + canvas.width, colour);
  };
  if (layout.pinned > 0) fill(layout.rows_top() - layout.metrics.px(3), layout.rows_top(), frame.theme.line);
  fill(std::max(layout.rows_top(), layout.rows_top() + layout.content - frame.view.scroll), canvas.bottom,
       frame.theme.window);
}

}  // namespace

void paint(QImage& image, const Scene& scene, const Layout& layout, const Viewport& view, PaintCache& cache,
           const PaintOptions& options) {
  PaintCache::State& state = cache.state();
  if (view.width <= layout.names || scene.runs.empty()) {
    image.fill(theme_of(scene.dark).window);
    return;
  }
  const Frame frame(scene, layout, view);
  const Canvas canvas = canvas_of(image);
  state.labels.use(options.font);
  state.labels.trim();

  const std::vector<RowJob> jobs = rows_in_view(layout, view, canvas);
  state.captions.resize(std::max(state.captions.size(), jobs.size()));
  in_parallel(jobs.size(), options.threads, [&](std::size_t i) {
    state.captions[i].clear();
    paint_row(frame, *jobs[i].placed, jobs[i].canvas, state.captions[i]);
  });
  paint_empty(frame, canvas);

  // Qt keeps its fonts per thread, so new texts are drawn here.
  std::vector<std::vector<const LabelMask*>> masks(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    for (const Caption& caption : state.captions[i])
      masks[i].push_back(&state.labels.mask(caption.text, caption.style));
  state.labels.record = options.texts;
  // Recorded one after the other.
  in_parallel(jobs.size(), options.texts ? 1 : options.threads, [&](std::size_t i) {
    int x = 0, width = 0;
    for (std::size_t k = 0; k < masks[i].size(); ++k) {
      const Caption& caption = state.captions[i][k];
      x = caption.follows ? x + width : caption.x;
      width = masks[i][k]->width + caption.style.pixels / 2;
      const int y = caption.y + (caption.height - masks[i][k]->height) / 2;
      if (options.texts) {
        state.labels.draw(jobs[i].canvas, caption.text, caption.style, x, y, caption.right, caption.colour);
      } else {
        blit(jobs[i].canvas, *masks[i][k], x, y, caption.right, caption.colour);
      }
    }
  });

  if (layout.minimap > 0) {
    if (MinimapKey key = minimap_key(frame); state.minimap.isNull() || !(key == state.minimap_key)) {
      state.minimap = minimap_picture(frame);
      state.minimap_key = std::move(key);
    }
  }
  QPainter painter(&image);
  paint_overlay(options.lines ? *options.lines : painter, canvas, frame, options);
  paint_top(painter, canvas, frame, state.minimap, state.labels);
}

QImage picture(const Scene& scene, int width, int height, std::optional<TimeSpan> visible, const Metrics& metrics) {
  const Layout layout = lay_out(scene, metrics);
  const TimeMap time(visible ? *visible : with_margin(extent_of(scene)), width - layout.names);
  QImage image(width, height, QImage::Format_RGB32);
  PaintCache cache;
  paint(image, scene, layout, {.time = time, .scroll = 0, .width = width, .height = height}, cache);
  return image;
}

}  // namespace stave::gui
