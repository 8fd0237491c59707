#include "gui/session.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/text/parse.h"

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

Session::Session(QObject* parent) : QObject(parent), jobs_(this) {
  predict_later_.setSingleShot(true);
  connect(&predict_later_, &QTimer::timeout, this, [this] {
    predict_now();
    check_now();
  });
}

Session::~Session() = default;

void Session::cancel_all() {
  predict_later_.stop();
  predict_again_ = false;
  for (const std::string& name : jobs_.names()) jobs_.cancel(name);
}

void Session::open(const QStringList& files, bool as_ranks) {
  std::vector<std::string> traces;
  for (const QString& name : files) {
    const std::string file = name.toStdString();
    if (is_schedule_file(file)) {
      Result<Schedule> schedule = open_schedule(file);
      if (schedule) {
        new_schedule(schedule->text, file);
        emit opened(name);
        continue;
      }
      // What does not parse is opened all the same: this is where it can be put right.
      const Result<std::string> text = read_file(file, std::size_t{64} << 20);
      if (text && !text->empty()) {
        new_schedule(*text, file);
        emit opened(name);
      } else {
        tell(schedule.problems());
      }
      continue;
    }
    traces.push_back(file);
  }
  std::vector<std::vector<std::string>> loads;
  if (as_ranks && !traces.empty()) {
    loads.push_back(traces);
  } else {
    for (const std::string& trace : traces) loads.push_back({trace});
  }
  for (const std::vector<std::string>& load : loads) {
    const std::string scratch = scratch_.path().toStdString();
    jobs_.start<RunPtr>(
        "open " + load.front(), [load, scratch](Progress& progress) { return load_run(load, scratch, &progress); },
        [this, load](Result<RunPtr> run) {
          if (!run) return tell(run.problems());
          add_run(*run);
          emit opened(QString::fromStdString(load.front()));
        });
  }
}

void Session::add_run(RunPtr run) {
  std::vector<Entry> runs = runs_;
  std::erase_if(runs, [&](const Entry& entry) { return !entry.live && !entry.ghost && entry.run->file == run->file; });
  // Ghosts stay last.
  const auto at = std::ranges::find_if(runs, [](const Entry& entry) { return entry.ghost; });
  runs.insert(at, {run, false, false});
  const RunPtr chosen = chosen_run();
  std::optional<RunPtr> keep = chosen ? chosen : run, partner = this->run(partner_);
  if (!*partner) partner.reset();
  // Two runs are there to be compared: the second one is held against the first.
  if (chosen && chosen != run && !partner && (!this->run(partner_))) {
    partner = chosen;
    keep = run;
  }
  replace_runs(std::move(runs), keep, partner);
  emit problems_changed();
}

void Session::replace_runs(std::vector<Entry> runs, std::optional<RunPtr> chosen, std::optional<RunPtr> partner) {
  const std::vector<Entry> before = std::move(runs_);
  runs_ = std::move(runs);
  const auto at = [&](const std::optional<RunPtr>& run) -> std::optional<std::size_t> {
    if (!run) return std::nullopt;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].run == *run) return i;
    return std::nullopt;
  };
  // Slices keep being selected where their run stays, or is replaced by the next prediction.
  const auto moved = [&](SliceRef slice) -> std::optional<SliceRef> {
    if (slice.run >= before.size()) return std::nullopt;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].run == before[slice.run].run) return SliceRef{i, slice.slice};
    if (!before[slice.run].live && !before[slice.run].ghost) return std::nullopt;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].live == before[slice.run].live && runs_[i].ghost == before[slice.run].ghost)
        if (const auto same = same_slice(*before[slice.run].run, slice.slice, *runs_[i].run)) return SliceRef{i, *same};
    return std::nullopt;
  };
  std::vector<SliceRef> selection;
  for (const SliceRef slice : selection_)
    if (const auto same = moved(slice)) selection.push_back(*same);
  const bool lost = selection.size() != selection_.size();
  selection_ = std::move(selection);
  if (const auto same = moved(align_slice_)) {
    align_slice_ = *same;
  } else if (align_by_ == AlignBy::Command) {
    align_by_ = AlignBy::Step;
  }
  if (lost) range_.reset();
  chosen_ = at(chosen);
  if (!chosen_ && !runs_.empty()) chosen_ = 0;
  partner_ = at(partner);
  if (partner_ == chosen_) partner_.reset();
  find_shifts();
  marks_.clear();
  mark_.reset();
  compare_now();
  emit runs_changed();
  emit selection_changed();
  statistics_now();
  if (!pattern_.isEmpty()) search(pattern_);
}

void Session::close_run(std::size_t at) {
  if (at >= runs_.size()) return;
  std::vector<Entry> runs = runs_;
  const bool live = runs[at].live;
  runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(at));
  // The schedule goes with its prediction.
  if (live) {
    std::erase_if(runs, [](const Entry& entry) { return entry.ghost; });
    jobs_.cancel("predict");
    jobs_.cancel("check");
    has_schedule_ = false;
    history_ = {Draft{}};
    at_ = 0;
    outcome_ = baseline_ = {};
    checked_.reset();
    saved_text_.clear();
    schedule_file_.clear();
  }
  replace_runs(std::move(runs), chosen_run(), run(partner_));
  if (live) {
    emit draft_changed();
    emit outcome_changed();
    emit checked_changed();
  }
  emit problems_changed();
}

void Session::choose(std::size_t at) {
  if (at >= runs_.size() || chosen_ == at) return;
  if (partner_ == at) partner_ = chosen_;
  chosen_ = at;
  find_shifts();
  compare_now();
  emit runs_changed();
  emit problems_changed();
}

void Session::set_partner(std::optional<std::size_t> at) {
  if (at && (*at >= runs_.size() || chosen_ == at)) at.reset();
  if (partner_ == at) return;
  partner_ = at;
  find_shifts();
  compare_now();
  emit runs_changed();
}

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
        compared_ = made ? std::make_shared<const Compared>(*std::move(made)) : nullptr;
        compare_problem_ = made ? "" : made.problems()[0].message;
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

Problems Session::problems() const {
  Problems out = told_;
  const auto add = [&](const Problems& more) { out.insert(out.end(), more.begin(), more.end()); };
  if (has_schedule_) {
    add(outcome_.problems);
    if (checked_)
      for (const Finding& finding : checked_->findings)
        if (finding.silenced.empty() &&
            std::ranges::none_of(outcome_.problems, [&](const Problem& p) { return p == finding.problem; }))
          out.push_back(finding.problem);
  }
  for (const Entry& entry : runs_)
    if (!entry.live && !entry.ghost) add(entry.run->problems);
  if (compared_) add(compared_->comparison.problems);
  return out;
}

void Session::tell(const Problems& problems) {
  if (problems.empty() || problems[0].code == "STV0950") return;
  told_.insert(told_.end(), problems.begin(), problems.end());
  emit problems_changed();
  emit failed(problems);
}

QString Session::memory_key() const {
  const RunPtr run = chosen_run();
  if (!run) return has_schedule_ ? QString::fromStdString(file_name(schedule_file_)) : QString();
  // Of an edited schedule the file's name says more than the text does.
  if (run->origin == Origin::Predicted || run->info.schedule_text.empty())
    return QString::fromStdString(file_name(run->file));
  return QString::fromStdString(run->label.schedule_sha256);
}

}  // namespace stave::gui
