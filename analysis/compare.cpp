#include "analysis/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace stave {
namespace {

struct StepDuration {
  std::uint32_t step = 0;
  Picoseconds duration{};
};

// Timed ones, shortest first. A step lasts from its first rank's begin to its last one's end.
struct Steps {
  std::vector<StepDuration> timed;
  std::size_t all = 0;
};

Steps steps_of(const Timeline& timeline) {
  struct Span {
    Interval span;
    bool timed;
  };
  std::map<std::uint32_t, Span> spans;
  for (const StepSpan& at : timeline.steps()) {
    const auto [of, added] = spans.try_emplace(at.step, Span{{at.start, at.end}, at.phase == StepPhase::Timed});
    of->second.span.begin = std::min(of->second.span.begin, at.start);
    of->second.span.end = std::max(of->second.span.end, at.end);
  }
  Steps steps{.timed = {}, .all = spans.size()};
  for (const auto& [step, of] : spans)
    if (of.timed) steps.timed.push_back({step, of.span.length()});
  std::stable_sort(steps.timed.begin(), steps.timed.end(),
                   [](const StepDuration& x, const StepDuration& y) { return x.duration < y.duration; });
  return steps;
}

const StepDuration& lower_median(const Steps& steps) { return steps.timed[(steps.timed.size() - 1) / 2]; }

// Of an even number, halfway between the two in the middle.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Standard error, in picoseconds, of what was picked of a run's steps: their median,
// or a given one. 1.4826 MAD is the standard deviation, and 1.2533 / sqrt(n) of that
// the error of a median, where steps are normally distributed (docs/models.md).
// None: not known.
std::optional<double> error_of(const ComparedRun& run, const Steps& steps, const Window& window, bool median) {
  if (run.kind == RunKind::Predicted) return 0.0;
  if (window.kind != "step" || steps.timed.size() < 3) return std::nullopt;
  std::vector<double> values;
  for (const StepDuration& step : steps.timed) values.push_back(static_cast<double>(step.duration.count()));
  const double middle = median_of(values);
  for (double& value : values) value = std::abs(value - middle);
  const double deviation = 1.4826 * median_of(std::move(values));
  return median ? deviation * 1.2533 / std::sqrt(static_cast<double>(steps.timed.size())) : deviation;
}

Verdict verdict_of(const Comparison& made) {
  if (made.delta.count() == 0) return Verdict::Same;
  if (!made.noise_pct) return Verdict::Undecided;
  if (made.delta_pct && std::abs(*made.delta_pct) <= *made.noise_pct) return Verdict::Same;
  return made.delta.count() < 0 ? Verdict::Faster : Verdict::Slower;
}

std::vector<OneSided> one_sided(const Timeline& timeline, const std::vector<SliceId>& slices) {
  std::map<std::string_view, OneSided> by_name;
  for (const SliceId id : slices) {
    const StringId name = timeline.slice(id).name;
    OneSided& of = by_name[name ? timeline.text(name) : title_of(timeline, id)];
    ++of.count;
    of.total += timeline.slice(id).duration;
  }
  std::vector<OneSided> out;
  for (auto& [name, of] : by_name) {
    of.name = name;
    out.push_back(std::move(of));
  }
  std::stable_sort(out.begin(), out.end(), [](const OneSided& x, const OneSided& y) { return x.total > y.total; });
  return out;
}

// "gemm, all_gather and 3 more" of what takes longest.
// A kernel's name can have thousands of characters.
std::string begin_of(std::string_view name) {
  constexpr std::size_t most = 60;
  if (name.size() <= most) return std::string(name);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}...", name.substr(0, end));
}

std::string some_names(const std::vector<OneSided>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i)
    out +=
        fmt::format("{}{}", i == 0 ? "" : ", ", names[i].name.empty() ? "(without a name)" : begin_of(names[i].name));
  return names.size() > 3 ? fmt::format("{} and {} more", out, names.size() - 3) : out;
}

Result<Window> chosen_window(const ComparedRun& run, std::string_view text, const Steps& steps, bool by_step) {
  Result<Window> window =
      window_of(run.index->timeline(), by_step ? fmt::format("step:{}", lower_median(steps).step) : std::string(text));
  if (window) return window;
  Problems problems = std::move(window).problems();
  for (Problem& problem : problems) problem.place.file = run.file;
  return Failure(std::move(problems));
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Same: return "same";
    case Verdict::Faster: return "faster";
    case Verdict::Slower: return "slower";
    case Verdict::Undecided: return "undecided";
  }
  return "undecided";
}

Result<Comparison> compare(const ComparedRun& a, const ComparedRun& b, std::string_view window) {
  const Steps steps_a = steps_of(a.index->timeline()), steps_b = steps_of(b.index->timeline());
  const bool by_step =
      window.empty() && !steps_a.timed.empty() && !steps_b.timed.empty() && std::max(steps_a.all, steps_b.all) > 1;
  Comparison made;
  made.a.index = a.index;
  made.b.index = b.index;
  TRY(made.a.window, chosen_window(a, window, steps_a, by_step));
  TRY(made.b.window, chosen_window(b, window, steps_b, by_step));
  made.a_timed_steps = steps_a.timed.size();
  made.b_timed_steps = steps_b.timed.size();
  made.a_length = made.a.window.span.length();
  made.b_length = made.b.window.span.length();
  made.delta = made.b_length - made.a_length;
  if (made.a_length.count() > 0)
    made.delta_pct = 100.0 * static_cast<double>(made.delta.count()) / static_cast<double>(made.a_length.count());

  made.alignment = align(made.a, made.b);
  made.only_a = one_sided(made.timeline_a(), made.alignment.only_a);
  made.only_b = one_sided(made.timeline_b(), made.alignment.only_b);
  if (made.alignment.matched.empty()) {
    for (const auto& [run, part, only] : {std::tuple{&a, &made.a, &made.only_a}, std::tuple{&b, &made.b, &made.only_b}})
      if (only->empty())
        return error_at({.file = run->file}, "STV1911",
                        "no work on a device in the window ({}{}{}); compare a run that has some, or choose a --window",
                        part->window.kind, part->window.label.empty() ? "" : " ", part->window.label);
    return error_at({.file = b.file}, "STV1910",
                    "nothing in it is also in {}: it has {}, the other has {}; compare two runs of one program, whose "
                    "commands or kernels have the same names",
                    a.file, some_names(made.only_b), some_names(made.only_a));
  }

  if (made.alignment.ranks_by_order)
    made.problems.push_back({Severity::Warning,
                             "STV1912",
                             fmt::format("it has none of the ranks of {}: they are compared in their order", a.file),
                             {.file = b.file},
                             {}});
  for (const auto& [run, part] : {std::pair{&a, &made.a}, std::pair{&b, &made.b}}) {
    const Problems others = other_steps(*run->index, part->window, run->file);
    made.problems.insert(made.problems.end(), others.begin(), others.end());
  }
  const std::optional<double> error_a = error_of(a, steps_a, made.a.window, by_step),
                              error_b = error_of(b, steps_b, made.b.window, by_step);
  if (error_a && error_b && made.a_length.count() > 0)
    made.noise_pct =
        100.0 * 2.0 * std::sqrt(*error_a * *error_a + *error_b * *error_b) / static_cast<double>(made.a_length.count());
  made.verdict = verdict_of(made);
  made.contributions = waterfall(made.a, made.b, made.alignment);
  made.families = family_errors(made.a, made.b, made.alignment);
  made.links = link_uses(made.a, made.b, made.alignment);
  return made;
}

}  // namespace stave
