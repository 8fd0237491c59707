#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "analysis/align.h"

namespace stave {
namespace {

constexpr std::string_view code = "STV1900";

Interval hull_of(const Timeline& timeline, auto&& belongs) {
  Interval hull{Time::max(), Time::min()};
  for (const Slice& slice : timeline.slices()) {
    if (!belongs(slice)) continue;
    hull.begin = std::min(hull.begin, slice.start);
    hull.end = std::max(hull.end, slice.end());
  }
  return hull;
}

// "1009-1014, 1020"
std::string step_numbers(const Timeline& timeline) {
  std::set<std::uint32_t> steps;
  for (const StepSpan& at : timeline.steps()) steps.insert(at.step);
  std::string out;
  for (auto at = steps.begin(); at != steps.end(); ++at) {
    const std::uint32_t first = *at;
    while (std::next(at) != steps.end() && *std::next(at) == *at + 1) ++at;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", first);
    if (*at > first) out += fmt::format("-{}", *at);
  }
  return out.empty() ? "none" : out;
}

// "12.5 ms"
std::string time_words_of(Time time) { return fmt::format("{} ms", static_cast<double>(time.count()) / 1e9); }

Result<Window> between(const Timeline& timeline, std::string_view text, std::size_t dots) {
  const std::string_view texts[] = {text.substr(0, dots), text.substr(dots + 2)};
  Time times[2];
  for (const std::size_t i : {0U, 1U}) {
    const std::optional<Picoseconds> time = time_with_unit(texts[i]);
    if (!time)
      return error_at({}, code,
                      "--window {}: `{}` is no time; write a number with a unit (ps, ns, us, ms, s), as in {}", text,
                      texts[i], "1.2ms..1.3ms");
    times[i] = *time;
  }
  if (times[1] <= times[0]) return error_at({}, code, "--window {}: it ends before it begins", text);
  const Interval all = hull_of(timeline, [](const Slice&) { return true; });
  if (all.begin <= all.end && (times[0] >= all.end || times[1] <= all.begin))
    return error_at({}, code, "--window {}: nothing is there; the run goes from {} to {}", text,
                    time_words_of(all.begin), time_words_of(all.end));
  return Window{"time", std::string(text), {times[0], times[1]}};
}

}  // namespace

std::optional<Picoseconds> time_with_unit(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ps;
  };
  static constexpr Unit units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& u : units)
    if (u.name == unit && number >= 0 && number * u.ps < 9e18) return picoseconds(number * u.ps * 1e-12);
  return std::nullopt;
}

Result<Window> window_of(const Timeline& timeline, std::string_view text) {
  if (text.empty() || text == "all") return Window{"all", "", whole(timeline)};
  if (text.starts_with("step:")) {
    const std::string_view number = text.substr(5);
    std::uint32_t step = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), step);
    if (error != std::errc{} || end != number.data() + number.size())
      return error_at({}, code, "--window {}: a step is a number, as in step:3", text);
    Interval span{Time::max(), Time::min()};
    for (const StepSpan& at : timeline.steps()) {
      if (at.step != step) continue;
      span.begin = std::min(span.begin, at.start);
      span.end = std::max(span.end, at.end);
    }
    if (span.end <= span.begin)
      return error_at({}, code, "--window {}: the run has no step {}; its steps: {}", text, step,
                      step_numbers(timeline));
    return Window{"step", std::string(number), span};
  }
  if (text.starts_with("range:")) {
    const std::string_view name = text.substr(6);
    const Interval span = hull_of(timeline, [&](const Slice& slice) {
      return timeline.track(slice.track).kind == TrackKind::Range && timeline.text(slice.name) == name;
    });
    if (span.end <= span.begin) return error_at({}, code, "--window {}: the run has no range of that name", text);
    return Window{"range", std::string(name), span};
  }
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) return between(timeline, text, dots);
  return error_at({}, code, "--window {}: write step:3, range:NAME, or two times as in 1.2ms..1.3ms", text);
}

Problems other_steps(const TimelineIndex& index, const Window& window, const std::string& file) {
  if (window.kind != "step") return {};
  const std::int64_t step = first_step({.index = &index, .window = window});
  std::int64_t all = 0, others = 0;
  const Timeline& timeline = index.timeline();
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (index.work(row) == WorkKind::None || slice.start >= window.span.end || slice.end() <= window.span.begin)
      continue;
    ++all;
    if (slice.step && slice.step.value != step) ++others;
  }
  if (others == 0) return {};
  return {{Severity::Note,
           "STV1913",
           fmt::format("{} of {} slices on devices in the time of step {} are work of other steps: devices run behind "
                       "the host, whose time a step has",
                       others, all, window.label),
           {.file = file},
           {}}};
}

}  // namespace stave
