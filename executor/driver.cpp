#include "executor/driver.h"

#include "core/lower/issue_names.h"

namespace stave {

std::string to_text(const Hang& hang) {
  std::string text = "hang: no rank can go on\n";
  for (const Blocked& b : hang.blocked) {
    text += fmt::format("  rank {}, {}: `{}`", b.rank, to_text(b.stream), b.first_pending);
    if (b.iteration > 0) text += fmt::format(" (after {} executions)", b.iteration);
    text += fmt::format(" waits: {}; ", b.reason);
    text += b.last_done.empty() ? std::string("nothing is done there\n") : fmt::format("last done `{}`\n", b.last_done);
  }
  return text;
}

Result<StepReport> run_step(Execution& execution) {
  TRY(const StepId step, execution.submit());
  return execution.wait(step, Deadline::max());
}

}  // namespace stave
