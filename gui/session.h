// What the window is about: runs, the two of them that are looked at, the schedule
// and what was changed about it, and what is selected. Panels read it, change it by
// its functions, listen to its signals, and know nothing of each other.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTemporaryDir>
#include <QTimer>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "gui/draft.h"
#include "gui/jobs.h"
#include "gui/run_study.h"
#include "gui/selection_statistics.h"
#include "gui/view/scene.h"
#include "workbench/check.h"
#include "workbench/schedule.h"

namespace stave::gui {

// Two runs held against each other: A is the partner, B is the chosen run.
struct Compared {
  RunPtr run_a, run_b;
  Comparison comparison;
  std::vector<SliceId> b_of_a, a_of_b;  // by slice row
  std::shared_ptr<const SliceDeltas> deltas_a, deltas_b;
};

enum class AlignBy : std::uint8_t { Start, Step, Command, StepNumber };

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  Jobs& jobs() { return jobs_; }
  bool jobs_busy(const std::string& name) const { return jobs_.busy(name); }
  void cancel_all();
  // Nothing runs and nothing waits to.
  bool idle() const {
    return !jobs_.busy() && !predict_later_.isActive() && !predict_again_ && !study_later_.isActive();
  }

  // Runs. Positions are those of the scene's runs.
  struct Entry {
    RunPtr run;
    bool live = false;   // the prediction of the draft, replaced as it changes
    bool ghost = false;  // the prediction before the changes
  };
  const std::vector<Entry>& runs() const { return runs_; }
  std::optional<std::size_t> chosen() const { return chosen_; }
  std::optional<std::size_t> partner() const { return partner_; }
  RunPtr run(std::optional<std::size_t> at) const { return at && *at < runs_.size() ? runs_[*at].run : nullptr; }
  RunPtr chosen_run() const { return run(chosen_); }
  std::shared_ptr<const RunStudy> study(const Run& run) const;  // null: it is not there yet
  // Schedules, run files and traces. `as_ranks`: the traces are of the ranks of one run.
  void open(const QStringList& files, bool as_ranks = false);
  void close_run(std::size_t at);
  void choose(std::size_t at);
  void set_partner(std::optional<std::size_t> at);
  void swap();

  AlignBy align_by() const { return align_by_; }
  // Command: the current slice.
  void align(AlignBy by);
  // Where the step begins; a run without it as by step. StepNumber alone: at the step that was last named.
  void align_at_step(std::uint32_t step);
  std::uint32_t align_step() const { return align_step_; }
  // The first and the last step of the chosen run; none if it has no steps.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> steps() const;
  Picoseconds shift(std::size_t at) const { return at < shifts_.size() ? shifts_[at] : Picoseconds{}; }
  std::shared_ptr<const Compared> compared() const { return compared_; }
  const std::string& compare_problem() const { return compare_problem_; }
  DeltaOf delta_of() const { return delta_of_; }
  void set_delta_of(DeltaOf what);

  // Selection; the first slice is the current one.
  const std::vector<SliceRef>& selection() const { return selection_; }
  std::optional<SliceRef> current() const;
  void select(std::vector<SliceRef> slices);
  void select(std::optional<SliceRef> slice);
  void select_line(std::uint32_t line);  // of the schedule: all slices of its commands in the chosen run
  const std::optional<RangeSelection>& range() const { return range_; }
  void select_range(std::optional<RangeSelection> range, std::vector<std::pair<std::size_t, TrackId>> tracks);
  std::optional<SliceRef> partner_of(SliceRef slice) const;
  // Lines of the schedule that the selected slices come from, ascending.
  std::vector<std::uint32_t> selected_lines() const;
  const SelectionStatistics& statistics() const { return statistics_; }

  // Search for a regular expression in names, commands, tracks and problems of all runs: see search_runs().
  void search(const QString& pattern);
  const QString& search_pattern() const { return pattern_; }
  const QString& search_problem() const { return search_problem_; }
  const std::vector<SliceRef>& marks() const { return marks_; }
  std::size_t found_problems() const { return found_problems_; }  // with a slice or without
  std::optional<std::size_t> mark() const { return mark_; }
  void next_mark(bool forward);

  const std::vector<Bookmark>& bookmarks() const { return bookmarks_; }
  void set_bookmarks(std::vector<Bookmark> bookmarks);
  // Under what name bookmarks and rows are remembered: the schedule, so that they serve its next run, else the file.
  QString memory_key() const;

  // The schedule.
  bool has_schedule() const { return has_schedule_; }
  const Draft& draft() const { return history_[at_]; }
  const std::string& schedule_file() const { return schedule_file_; }
  bool unsaved() const;
  // Takes a changed draft; `merge`: it belongs to the change before (a slider that moves on).
  void change(Draft draft, bool merge = false);
  void edit(const Edit& edit, bool merge = false);
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < history_.size(); }
  void undo();
  void redo();
  const Outcome& outcome() const { return outcome_; }    // the last one that came
  const Outcome& baseline() const { return baseline_; }  // before the changes
  void rebase();                                         // what is predicted now becomes the baseline
  const std::optional<CheckReport>& checked() const { return checked_; }
  void new_schedule(const std::string& text, const std::string& file);
  // The chosen run's own schedule, to be changed and predicted.
  void adopt_schedule_of_run();
  Result<void> save_schedule(const std::string& file);
  Result<void> save_machine(const std::string& file);
  void save_run(const std::string& file);  // the live prediction
  // The chosen run in another tool's format, by the file's name; `window` as for window_of(), `width` of a picture.
  void export_run(const std::string& file, const std::string& window, std::uint32_t width);
  void execute();          // on the CPU reference
  void execute_on_gpus();  // what the recorder saw becomes a run
  const QString& output() const { return output_; }

  // All there is to complain about, with what was said of files that could not be opened.
  Problems problems() const;
  void tell(const Problems& problems);  // failed() follows

 signals:
  void runs_changed();  // which, how they are aligned, chosen or compared
  void compared_changed();
  void study_changed();  // there is one more
  void selection_changed();
  void statistics_changed();
  void marks_changed();
  void bookmarks_changed();
  void draft_changed();
  void outcome_changed();
  void checked_changed();
  void output_changed();
  void problems_changed();
  void failed(const stave::Problems& problems);
  void opened(const QString& file);
  void revealed(stave::gui::SliceRef slice);  // the view should show it
  void went_to(stave::Time time);             // the view should go there
  void saved(const QString& what);

 private:
  void add_run(RunPtr run);
  void add_opened();
  RunPtr take_opened(std::string& file);
  void take(Outcome outcome);
  void predict_now();
  void check_now();
  void compare_now();
  void find_shifts();
  void study_now();
  void statistics_now();
  void replace_runs(std::vector<Entry> runs, const std::optional<RunPtr>& chosen, const std::optional<RunPtr>& partner);
  Schedule schedule_of(const Outcome& outcome) const;

  Jobs jobs_;
  QTemporaryDir scratch_;
  std::vector<Entry> runs_;
  // Files that were opened together, each a job: their runs are added in the order that they were named in, whichever
  // is read first. None yet, and no such job: it failed or was cancelled.
  struct Opening {
    std::string file;
    RunPtr run;
  };
  std::vector<std::deque<std::shared_ptr<Opening>>> openings_;
  std::map<RunPtr, std::shared_ptr<const RunStudy>> studies_;  // null: it is being made
  std::optional<std::size_t> chosen_, partner_;
  AlignBy align_by_ = AlignBy::Step;
  SliceRef align_slice_{};
  std::uint32_t align_step_ = 0;
  std::vector<Picoseconds> shifts_;
  std::shared_ptr<const Compared> compared_;
  std::string compare_problem_;
  DeltaOf delta_of_ = DeltaOf::Duration;

  std::vector<SliceRef> selection_;
  std::optional<RangeSelection> range_;
  std::vector<std::pair<std::size_t, TrackId>> range_tracks_;
  SelectionStatistics statistics_;
  QString pattern_, search_problem_;
  std::vector<SliceRef> marks_;
  std::optional<std::size_t> mark_;
  std::size_t found_problems_ = 0;
  std::vector<Bookmark> bookmarks_;

  bool has_schedule_ = false;
  std::string schedule_file_;
  std::string saved_text_;
  std::vector<Draft> history_{Draft{}};
  std::size_t at_ = 0;
  Outcome outcome_, baseline_;
  std::optional<CheckReport> checked_;
  QTimer predict_later_, study_later_;
  bool predict_again_ = false;
  QElapsedTimer predicting_, typed_;
  QString output_;
  // Files in `scratch_` so far.
  int measured_ = 0;
  int exported_ = 0;
  Problems told_;
};

}  // namespace stave::gui
