#include "executor/driver.h"

#include "core/lower/issue_names.h"

namespace stave {

namespace {

std::string to_text(const Blocked& b) {
  std::string text = fmt::format("rank {}, {}: `{}`", b.rank, to_text(b.stream), b.first_pending);
  if (b.iteration > 0) text += fmt::format(" (after {} executions)", b.iteration);
  text += fmt::format(" waits: {}; ", b.reason);
  return text +
         (b.last_done.empty() ? std::string("nothing is done there") : fmt::format("last done `{}`", b.last_done));
}

}  // namespace

std::string to_text(const Hang& hang) {
  std::string text = "hang: no rank can go on\n";
  for (const Blocked& b : hang.blocked) text += fmt::format("  {}\n", to_text(b));
  return text;
}

Problem problem_of(const Hang& hang) {
  Problem problem{Severity::Error, "STV0905", "deadlock: no rank can go on", {}, {}};
  for (const Blocked& b : hang.blocked) {
    if (problem.place == Place{}) problem.place = b.place;
    problem.notes.push_back({to_text(b), b.place});
  }
  return problem;
}

Result<StepReport> run_step(Execution& execution) {
  TRY(const StepId step, execution.submit());
  return execution.wait(step, Deadline::max());
}

}  // namespace stave
