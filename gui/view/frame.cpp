#include "gui/view/frame.h"

namespace stave::gui {
namespace {

// Grid lines under the ruler's labels and lines where steps begin.
std::vector<Rgb> background_of(const Scene& scene, const Layout& layout, const Viewport& view, int tracks) {
  const Theme& theme = theme_of(scene.dark);
  std::vector<Rgb> columns(static_cast<std::size_t>(tracks), theme.row);
  const auto line = [&](double x, Rgb colour) {
    if (x >= 0 && x < tracks) columns[static_cast<std::size_t>(x)] = colour;
  };
  for (const Tick& tick : ticks_of(view.time, layout.metrics.px(90)).ticks)
    if (!tick.label.empty()) line(view.time.x(tick.time), theme.grid);
  if (const RunInView* run = run_with_steps(scene)) {
    const auto steps = run->timeline->steps();
    const TimeMap time = view.time.shifted(run->shift);
    for (const StepSpan& step : steps)
      if (step.rank == steps.front().rank && time.x(step.end) - time.x(step.start) > layout.metrics.px(12))
        line(time.x(step.start), theme.line);
  }
  return columns;
}

}  // namespace

Frame::Frame(const Scene& of, const Layout& with, const Viewport& at)
    : scene(of),
      layout(with),
      view{at.time.resized(at.width - with.names), at.scroll, at.width, at.height},
      theme(theme_of(of.dark)),
      tracks(at.width - with.names),
      background(background_of(of, with, view, tracks)),
      on_path(of.runs.size()) {
  const Picoseconds scale = delta_scale_of(scene);
  for (std::size_t run = 0; run < scene.runs.size(); ++run) colours.emplace_back(scene, run, scale);
  for (const PathInView& path : scene.paths) {
    std::vector<bool>& on = on_path[path.run];
    on.resize(scene.runs[path.run].timeline->slices().size());
    for (const PathPart& part : path.parts)
      if (part.kind == PathPart::Kind::Work && part.slice) on[part.slice.row()] = true;
  }
}

}  // namespace stave::gui
