// Runs beside each other: how they are aligned and compared; and what is found in them after their picture.
#include <algorithm>

#include "gui/session.h"

namespace stave::gui {
namespace {

std::optional<Time> begin_of_step(const Run& run, std::uint32_t number) {
  std::optional<Time> begin;
  for (const StepSpan& step : run.timeline->steps())
    if (step.step == number) begin = begin ? std::min(*begin, step.start) : step.start;
  return begin;
}

// The instant that alignment puts on one line: 0 if the run has no such thing.
Time anchor_of(const Run& run, AlignBy by) {
  if (by == AlignBy::Step) {
    std::optional<Time> first, timed;
    for (const StepSpan& step : run.timeline->steps()) {
      first = first ? std::min(*first, step.start) : step.start;
      if (step.phase == StepPhase::Timed) timed = timed ? std::min(*timed, step.start) : step.start;
    }
    if (timed || first) return timed ? *timed : *first;
  }
  std::optional<Time> start;
  for (std::size_t t = 0; t < run.timeline->tracks().size(); ++t) {
    const auto rows = run.index->rows(TrackId{t});
    if (rows.empty() || !is_device_track(run.timeline->tracks()[t])) continue;
    const Time at = run.timeline->slices()[rows.front()].start;
    start = start ? std::min(*start, at) : at;
  }
  if (start) return *start;
  const std::optional<TimeSpan> extent = extent_of(*run.timeline);
  return extent ? extent->start : Time{};
}

Result<Compared> compare_runs(const RunPtr& a, const RunPtr& b, DeltaOf what) {
  TRY(Comparison made, compare({.index = a->index.get(), .kind = a->info.kind, .file = a->file},
                               {.index = b->index.get(), .kind = b->info.kind, .file = b->file}));
  Compared out{a, b, std::move(made), {}, {}, {}, {}};
  out.b_of_a.resize(a->timeline->slices().size());
  out.a_of_b.resize(b->timeline->slices().size());
  for (const SlicePair& pair : out.comparison.alignment.matched) {
    out.b_of_a[pair.a.row()] = pair.b;
    out.a_of_b[pair.b.row()] = pair.a;
  }
  out.deltas_a = std::make_shared<const SliceDeltas>(deltas_of(out.comparison, what, false));
  out.deltas_b = std::make_shared<const SliceDeltas>(deltas_of(out.comparison, what, true));
  return out;
}

}  // namespace

void Session::swap() {
  if (!partner_) return;
  std::swap(chosen_, partner_);
  find_shifts();
  compare_now();
  emit runs_changed();
}

void Session::align(AlignBy by) {
  if (by == AlignBy::Command) {
    if (!current()) return tell({{Severity::Warning, "", "Select the slice to align at first.", {}, {}}});
    align_slice_ = *current();
  }
  if (by == AlignBy::StepNumber) {
    const auto range = steps();
    if (!range) return tell({{Severity::Warning, "", "The run has no steps to align at.", {}, {}}});
    align_step_ = std::clamp(align_step_, range->first, range->second);
  }
  align_by_ = by;
  find_shifts();
  emit runs_changed();
}

void Session::align_at_step(std::uint32_t step) {
  align_step_ = step;
  align(AlignBy::StepNumber);
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> Session::steps() const {
  const RunPtr run = chosen_run();
  if (!run || run->timeline->steps().empty()) return std::nullopt;
  std::pair<std::uint32_t, std::uint32_t> range{UINT32_MAX, 0};
  for (const StepSpan& step : run->timeline->steps())
    range = {std::min(range.first, step.step), std::max(range.second, step.step)};
  return range;
}

void Session::find_shifts() {
  shifts_.assign(runs_.size(), Picoseconds{});
  const RunPtr reference = chosen_run();
  if (!reference) return;
  const RunPtr named = align_by_ == AlignBy::Command ? run(align_slice_.run) : nullptr;
  const AlignBy by = align_by_ == AlignBy::StepNumber ? AlignBy::Step : align_by_;
  const auto at = [&](const Run& one) {
    // By step: of two that are compared, the steps that are.
    if (by == AlignBy::Step && compared_) {
      if (&one == compared_->run_a.get()) return compared_->comparison.a.window.span.begin;
      if (&one == compared_->run_b.get()) return compared_->comparison.b.window.span.begin;
    }
    if (named)
      if (const auto same = same_slice(*named, align_slice_.slice, one)) return one.timeline->slice(*same).start;
    return anchor_of(one, by);
  };
  const Time zero = at(*reference);
  const auto step_of = [&](const Run& one) {
    return align_by_ == AlignBy::StepNumber ? begin_of_step(one, align_step_) : std::nullopt;
  };
  const std::optional<Time> step = step_of(*reference);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::optional<Time> same = step_of(*runs_[i].run);
    shifts_[i] = step && same ? *step - *same : zero - at(*runs_[i].run);
  }
}

void Session::set_delta_of(DeltaOf what) {
  if (delta_of_ == what) return;
  delta_of_ = what;
  compare_now();
}

void Session::compare_now() {
  const RunPtr a = run(partner_), b = chosen_run();
  if (!a || !b) {
    jobs_.cancel("compare");
    compare_problem_.clear();
    if (compared_) {
      compared_.reset();
      emit compared_changed();
    }
    return;
  }
  // What is shown must not name slices of runs that are gone.
  if (compared_ && (compared_->run_a != a || compared_->run_b != b)) compared_.reset();
  jobs_.start<Compared>(
      "compare", [a, b, what = delta_of_](Progress&) { return compare_runs(a, b, what); },
      [this](Result<Compared> made) {
        compare_problem_ = made ? "" : made.problems()[0].message;
        compared_ = made ? std::make_shared<const Compared>(*std::move(made)) : nullptr;
        find_shifts();
        emit compared_changed();
      });
}

std::optional<SliceRef> Session::partner_of(SliceRef slice) const {
  if (!compared_) return std::nullopt;
  const RunPtr of = run(slice.run);
  const auto look_up = [&](const std::vector<SliceId>& there,
                           std::optional<std::size_t> at) -> std::optional<SliceRef> {
    if (!at || slice.slice.row() >= there.size() || !there[slice.slice.row()]) return std::nullopt;
    return SliceRef{*at, there[slice.slice.row()]};
  };
  if (of == compared_->run_a) return look_up(compared_->b_of_a, chosen_);
  if (of == compared_->run_b) return look_up(compared_->a_of_b, partner_);
  return std::nullopt;
}

void Session::study_now() {
  std::erase_if(studies_, [&](const auto& found) {
    return std::ranges::none_of(runs_, [&](const Entry& entry) { return entry.run == found.first; });
  });
  for (const Entry& entry : runs_) {
    if (entry.ghost || !studies_.try_emplace(entry.run).second) continue;
    jobs_.start<RunStudy>(
        fmt::format("study {}", fmt::ptr(entry.run.get())),
        [run = entry.run](Progress& progress) -> Result<RunStudy> {
          progress.begin("looking for slack");
          return gui::study(*run);
        },
        [this, run = entry.run](Result<RunStudy> found) {
          if (const auto at = studies_.find(run); at != studies_.end() && found)
            at->second = std::make_shared<const RunStudy>(*std::move(found));
          emit study_changed();
        });
  }
}

std::shared_ptr<const RunStudy> Session::study(const Run& run) const {
  for (const auto& [known, study] : studies_)
    if (known.get() == &run) return study;
  return nullptr;
}

}  // namespace stave::gui
