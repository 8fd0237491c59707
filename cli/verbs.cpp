#include "cli/verbs.h"

#include <fmt/format.h>

#include <vector>

#include "core/text/nearest.h"

namespace stave::cli {

std::span<const Verb> verbs() {
  static constexpr Verb table[] = {
      {"check", "Report what is wrong with a schedule", "stave check examples/ring_matmul_2.stave", define_check},
      {"fmt", "Print a schedule in its canonical form", "stave fmt examples/pipeline.stave", define_fmt},
      {"run", "Execute a schedule on the CPU reference, all ranks in one process",
       "stave run examples/collatz.stave --input start=27", define_run},
      {"sim", "Predict a schedule's timeline on a machine", "stave sim examples/ring_matmul_2.stave --machine h200-x2",
       define_sim},
      {"report", "Say what a stored run did", "stave report ring.sqlite", define_report},
      {"compare", "Say how two stored runs differ, and why", "stave compare ring.sqlite all_gather.sqlite",
       define_compare},
      {"import", "Read traces of other tools into a run file", "stave import examples/trace.json -o imported.sqlite",
       define_import},
      {"export", "Write a run in another tool's format", "stave export ring.sqlite -o ring.pftrace", define_export},
      {"scrub", "Take out of a run or trace who made it and where", "stave scrub ring.sqlite -o shared.sqlite",
       define_scrub},
      {"docs", "Print the reference of the schedule language", "stave docs", define_docs},
      {"machines", "List the machines that Stave ships, or show one", "stave machines h200-x2", define_machines},
      {"new", "Write a schedule to start from", "stave new ring-matmul -o -", define_new},
      {"demo", "Check, execute, predict and report a ring collective matmul", "stave demo", define_demo},
      {"doctor", "Say what is missing here and what that disables", "stave doctor", define_doctor},
      {"completions", "Print what makes a shell complete stave's words", "stave completions bash", define_completions},
      {"help", "Print the help of a verb", "stave help sim", define_help},
  };
  return table;
}

int unknown_verb(std::string_view name, const OutputOptions& output) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return usage_error(fmt::format("no verb '{}'; `stave --help` lists them{}", name, did_you_mean(name, names)), output);
}

}  // namespace stave::cli
