// A timeline as the window holds it: with all that is looked up in it. Never
// changed once it is made, so that background jobs may share it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "core/base/progress.h"
#include "gui/view/lod.h"
#include "workbench/open_run.h"

namespace stave::gui {

enum class Origin : std::uint8_t { File, Imported, Predicted };

// What a line of the schedule took.
struct LineCost {
  Picoseconds time{};      // of its commands on devices, summed, on the rank where that is most
  std::int64_t count = 0;  // of slices there
};

struct Run {
  std::string title;  // for people: the file's name and the run's label
  std::string file;   // that it was opened from: a run file, a trace or a schedule
  Origin origin = Origin::File;
  RunInfo info;
  RunLabel label;
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const TimelineIndex> index;  // of `timeline`
  std::shared_ptr<const Lod> lod;              // of `index`
  Report report;                               // of the whole run
  Problems problems;                           // what the recorder or importer counted
  std::string notes;                           // counts of an import, as text
  std::map<std::uint32_t, LineCost> lines;     // by line of the schedule
};
using RunPtr = std::shared_ptr<const Run>;

// Index, levels of detail and report: work for a background job. What a run holds is let go of on another thread,
// too: to free millions of slices takes longer than a frame.
RunPtr make_run(Run run, Timeline timeline);

// A run file; a trace is imported into `scratch`, a folder. With several files: traces of the ranks of one run.
Result<RunPtr> load_run(const std::vector<std::string>& files, const std::string& scratch, Progress* progress);

bool is_schedule_file(const std::string& file);  // by its name: .stave
// Without folders.
std::string file_name(const std::string& path);

// The slice of `to` that is the same command on the same rank, or of the same name where commands are not known.
std::optional<SliceId> same_slice(const Run& from, SliceId slice, const Run& to);

}  // namespace stave::gui
