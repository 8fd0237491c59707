#include <algorithm>

#include "core/text/parse.h"
#include "gui/session.h"

namespace stave::gui {
namespace {

// A change of the text is predicted once the typing rests, all others at once.
constexpr int typing_rests_ms = 300;
constexpr int one_word_ms = 700;
// A prediction that takes longer than this is given up for a newer one.
constexpr int worth_waiting_for_ms = 250;

}  // namespace

bool Session::unsaved() const { return has_schedule_ && (draft().text != saved_text_ || !draft().edits.empty()); }

void Session::new_schedule(const std::string& text, const std::string& file) {
  Draft draft;
  draft.text = text;
  if (has_schedule_) draft.machine = this->draft().machine;
  jobs_.cancel("predict");
  jobs_.cancel("check");
  has_schedule_ = true;
  schedule_file_ = file;
  saved_text_ = text;
  history_ = {std::move(draft)};
  at_ = 0;
  outcome_ = baseline_ = {};
  checked_.reset();
  std::vector<Entry> runs = runs_;
  std::erase_if(runs, [](const Entry& entry) { return entry.live || entry.ghost; });
  replace_runs(std::move(runs), chosen_run(), run(partner_));
  emit draft_changed();
  emit outcome_changed();
  emit checked_changed();
  emit problems_changed();
  predict_now();
  check_now();
}

void Session::adopt_schedule_of_run() {
  const RunPtr run = chosen_run();
  if (!run || run->info.schedule_text.empty() || has_schedule_) return;
  Draft draft;
  draft.text = run->info.schedule_text;
  if (!run->label.machine.empty()) draft.machine = run->label.machine;
  if (const std::optional<Mode> mode = mode_named(run->info.mode)) draft.mode = *mode;
  has_schedule_ = true;
  schedule_file_ = file_name(run->file) + ".stave";
  saved_text_ = draft.text;
  history_ = {std::move(draft)};
  at_ = 0;
  emit draft_changed();
  predict_now();
  check_now();
}

void Session::change(Draft draft, bool merge) {
  if (!has_schedule_ || draft == this->draft()) return;
  const bool typed = draft.text != this->draft().text;
  // Words are undone, not letters.
  merge = merge || (typed && typed_.isValid() && typed_.elapsed() < one_word_ms);
  if (typed) {
    typed_.start();
  } else {
    typed_.invalidate();
  }
  history_.resize(at_ + 1);
  // The draft that was opened stays what undo leads back to.
  if (merge && at_ > 0) {
    history_[at_] = std::move(draft);
  } else {
    history_.push_back(std::move(draft));
    ++at_;
  }
  emit draft_changed();
  if (typed) {
    predict_later_.start(typing_rests_ms);
  } else {
    predict_now();
    check_now();
  }
}

void Session::edit(const Edit& edit, bool merge) {
  Draft next = draft();
  set(next.edits, edit);
  change(std::move(next), merge);
}

void Session::undo() {
  if (!can_undo()) return;
  --at_;
  emit draft_changed();
  predict_now();
  check_now();
}

void Session::redo() {
  if (!can_redo()) return;
  ++at_;
  emit draft_changed();
  predict_now();
  check_now();
}

void Session::rebase() {
  if (!outcome_.run) return;
  baseline_ = outcome_;
  take(outcome_);
}

void Session::predict_now() {
  // While a short one runs, the next waits for it: a slider that moves on shows the way, and at its end the newest.
  if (jobs_.busy("predict") && predicting_.elapsed() < worth_waiting_for_ms) {
    predict_again_ = true;
    return;
  }
  predict_again_ = false;
  predicting_.start();
  Known known;
  if (outcome_.module && outcome_.draft.text == draft().text) known.module = outcome_.module;
  if (outcome_.base_machine && outcome_.draft.machine == draft().machine) known.machine = outcome_.base_machine;
  jobs_.start<Outcome>(
      "predict",
      [draft = draft(), file = schedule_file_, known](Progress& progress) {
        return predict_draft(draft, file, known, progress);
      },
      [this](Result<Outcome> outcome) {
        if (outcome) {
          take(*std::move(outcome));
        } else {
          tell(outcome.problems());
        }
        if (predict_again_) predict_now();
      });
}

void Session::take(Outcome outcome) {
  // The machine of a schedule that was just opened was a guess.
  if (!outcome.larger_machine.empty() && at_ == 0 && history_.size() == 1) {
    history_[0].machine = outcome.larger_machine;
    emit draft_changed();
    return predict_now();
  }
  // A draft that cannot be predicted leaves the last picture where it is.
  if (!outcome.run) {
    outcome_.problems = std::move(outcome.problems);
    outcome_.draft = std::move(outcome.draft);
    outcome_.module = std::move(outcome.module);
    if (outcome.base_machine) outcome_.base_machine = std::move(outcome.base_machine);
    emit outcome_changed();
    emit problems_changed();
    return;
  }
  outcome_ = std::move(outcome);
  const bool first = !baseline_.run;
  if (first) baseline_ = outcome_;
  const RunPtr chosen = chosen_run(), partner = run(partner_);
  const bool was_chosen = chosen_ && runs_[*chosen_].live, was_ghost = partner_ && runs_[*partner_].ghost;
  const bool live_is_partner = partner_ && runs_[*partner_].live;
  const bool had_live = std::ranges::any_of(runs_, [](const Entry& entry) { return entry.live; });
  const bool had_ghost = std::ranges::any_of(runs_, [](const Entry& entry) { return entry.ghost; });
  std::vector<Entry> runs = runs_;
  std::erase_if(runs, [](const Entry& entry) { return entry.live || entry.ghost; });
  const bool ghost = baseline_.run != outcome_.run && !(baseline_.draft == outcome_.draft);
  const auto live_at = std::ranges::find_if(runs_, [](const Entry& entry) { return entry.live; });
  const auto position = live_at == runs_.end() ? static_cast<std::ptrdiff_t>(runs.size()) : live_at - runs_.begin();
  runs.insert(runs.begin() + std::min(position, static_cast<std::ptrdiff_t>(runs.size())), {outcome_.run, true, false});
  if (ghost) runs.push_back({baseline_.run, false, true});
  std::optional<RunPtr> next = was_chosen || !chosen || !had_live ? outcome_.run : chosen;
  std::optional<RunPtr> against;
  if (partner && !was_ghost && !live_is_partner) against = partner;
  if (live_is_partner) against = outcome_.run;
  // The first prediction beside a measured run is held against it, and a changed one against what it was.
  if (!had_live && chosen && !partner) against = chosen;
  if (ghost && (was_ghost || (!had_ghost && !against))) against = baseline_.run;
  replace_runs(std::move(runs), next, against);
  emit outcome_changed();
  emit problems_changed();
}

void Session::check_now() {
  const Draft& now = draft();
  jobs_.start<CheckReport>(
      "check",
      [text = now.text, file = schedule_file_, params = params_of(now),
       mode = now.mode](Progress& progress) -> Result<CheckReport> {
        TRY(Module module, parse(file, text));
        const Schedule schedule{file, text, "", std::make_shared<const Module>(std::move(module))};
        progress.begin("checking");
        return check_schedule(schedule, params, mode, &progress);
      },
      [this](Result<CheckReport> report) {
        checked_.reset();
        if (report) checked_ = *std::move(report);
        emit checked_changed();
        emit problems_changed();
      });
}

}  // namespace stave::gui
