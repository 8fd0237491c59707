// A schedule and a machine as they are being changed, and what becomes of them.
#pragma once

#include <memory>
#include <string>

#include "analysis/edits.h"
#include "gui/run.h"
#include "workbench/schedule.h"

namespace stave::gui {

// A schedule as it is being changed. A value: undo and redo go from one to another.
struct Draft {
  std::string text;
  std::string machine = "h200-x2";  // a name or a file
  Mode mode = Mode::Eager;
  bool sustained = false;  // the clock that devices keep; full where the machine has no [energy]
  Edits edits;

  friend bool operator==(const Draft&, const Draft&) = default;
};

// What became of a draft. Without a run: why there is none.
struct Outcome {
  Draft draft;
  Problems problems;                            // parse, rules, machine; a deadlock; what was assumed
  std::shared_ptr<const Module> module;         // of the draft's text; null: it does not parse
  std::shared_ptr<const Machine> base_machine;  // as its file has it
  std::optional<Situation> situation;           // with the edits
  RunPtr run;
  PredictionSummary summary;
  double clock = 1;  // part of the full one
  std::int64_t device_bytes = 0;
  std::string larger_machine;  // that has a device for each rank, where the draft's has not
};

// What need not be read again.
struct Known {
  std::shared_ptr<const Module> module;
  std::shared_ptr<const Machine> machine;
};

// `file` names the text in messages. Fails only if it is cancelled; what is wrong with the draft stands in the outcome.
Result<Outcome> predict_draft(Draft draft, const std::string& file, Known known, Progress& progress);

ParamValues params_of(const Draft& draft);

}  // namespace stave::gui
