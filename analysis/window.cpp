#include <algorithm>
#include <charconv>
#include <limits>

#include "analysis/report.h"

namespace stave {
namespace {

constexpr std::string_view code = "STV1900";

// "1.5ms" in picoseconds; none if it is not a time.
std::optional<Time> time_of(std::string_view text) {
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

Interval hull_of(const Timeline& timeline, auto&& belongs) {
  Interval hull{Time::max(), Time::min()};
  for (const Slice& slice : timeline.slices()) {
    if (!belongs(slice)) continue;
    hull.begin = std::min(hull.begin, slice.start);
    hull.end = std::max(hull.end, slice.end());
  }
  return hull;
}

}  // namespace

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
      return error_at({}, code, "--window {}: the run has no step {}; it has {} step records", text, step,
                      timeline.steps().size());
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
  if (dots != std::string_view::npos) {
    const std::optional<Time> begin = time_of(text.substr(0, dots)), end = time_of(text.substr(dots + 2));
    if (begin && end && *begin < *end) return Window{"time", std::string(text), {*begin, *end}};
  }
  return error_at({}, code, "--window {}: write step:3, range:NAME, or two times as in 1.2ms..1.3ms", text);
}

}  // namespace stave
