#include "gui/session.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/text/parse.h"

namespace stave::gui {
namespace {

// While one prediction follows the other, nobody looks closer.
constexpr int study_rests_ms = 150;

}  // namespace

Session::Session(QObject* parent) : QObject(parent), jobs_(this) {
  predict_later_.setSingleShot(true);
  connect(&predict_later_, &QTimer::timeout, this, [this] {
    predict_now();
    check_now();
  });
  study_later_.setSingleShot(true);
  connect(&study_later_, &QTimer::timeout, this, &Session::study_now);
  connect(&jobs_, &Jobs::changed, this, &Session::add_opened);
}

Session::~Session() = default;

void Session::cancel_all() {
  predict_later_.stop();
  study_later_.stop();
  predict_again_ = false;
  std::erase_if(studies_, [](const auto& found) { return !found.second; });
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
  std::deque<std::shared_ptr<Opening>> together;
  for (const std::vector<std::string>& load : loads) {
    const std::string scratch = scratch_.path().toStdString();
    const auto opening = std::make_shared<Opening>(Opening{load.front(), nullptr});
    jobs_.start<RunPtr>(
        "open " + opening->file, [load, scratch](Progress& progress) { return load_run(load, scratch, &progress); },
        [this, opening](Result<RunPtr> run) {
          if (!run) return tell(run.problems());
          opening->run = *run;
        });
    together.push_back(opening);
  }
  openings_.push_back(std::move(together));
}

// The next run whose turn it is; null: none, or one that is still read comes before it.
RunPtr Session::take_opened(std::string& file) {
  for (std::deque<std::shared_ptr<Opening>>& together : openings_)
    while (!together.empty() && (together.front()->run || !jobs_.busy("open " + together.front()->file))) {
      const std::shared_ptr<Opening> opening = together.front();
      together.pop_front();
      file = opening->file;
      if (opening->run) return opening->run;
    }
  std::erase_if(openings_, [](const auto& together) { return together.empty(); });
  return nullptr;
}

// Whenever a job began or ended; adding a run begins some.
void Session::add_opened() {
  std::string file;
  while (const RunPtr run = take_opened(file)) {
    add_run(run);
    emit opened(QString::fromStdString(file));
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

void Session::replace_runs(std::vector<Entry> runs, const std::optional<RunPtr>& chosen,
                           const std::optional<RunPtr>& partner) {
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
    if (!slice.slice || slice.run >= before.size()) return std::nullopt;
    // A prediction that becomes the ghost leaves its selection to the next one.
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i].run == before[slice.run].run && runs_[i].ghost == before[slice.run].ghost)
        return SliceRef{i, slice.slice};
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
  study_later_.start(study_rests_ms);
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
