// RUN: simulate [machine=NAME] [mode=eager|captured|captured_serial] [network=NAME] [steps=N] [hosts=no]
// [param=NAME=VALUE ...] Predicts and prints the timeline of all tracks with slices, then what the prediction has to
// say: the makespan, notes, a deadlock. Without `machine`, a machine of round numbers: 10 SMs, memory 1 TB/s, links 100
// GB/s.
#include <memory>

#include "core/text/parse.h"
#include "simulator/simulate.h"
#include "tests/modes/modes.h"
#include "tests/simulator/schedule.h"

namespace stave {
namespace {

Result<std::string> predicted(const FileTest& test) {
  TRY(Module module, parse(test.name, test.input));
  ExpandOptions expand_options;
  for (const std::string& arg : test.args) {
    const std::string_view text = arg;
    if (text.substr(0, 6) != "param=") continue;
    const std::size_t equals = text.find('=', 6);
    expand_options.params.emplace_back(text.substr(6, equals - 6), text.substr(equals + 1));
  }
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module)), expand_options));
  TRY(Plan plan, lower(std::move(expansion), mode_named(test.option("mode", "eager")).value_or(Mode::Eager)));
  Machine machine = plain_machine(std::max<int>(static_cast<int>(plan.ranks()), 1));
  if (const std::string_view name = test.option("machine"); !name.empty()) {
    TRY(machine, load_machine(std::string(STAVE_SOURCE_DIR "/machines/") + std::string(name) + ".toml"));
  }
  SimulateOptions options;
  options.network_model = test.option("network", "max-min");
  options.host_slices = test.option("hosts", "no") == "yes";
  options.steps = static_cast<std::uint32_t>(std::stoul(std::string(test.option("steps", "1"))));
  TRY(Prediction p, simulate(plan, machine, options));
  std::string text = timeline_text(p.timeline);
  text += fmt::format("makespan {}\n", p.summary.makespan.count());
  for (const Problem& note : p.summary.notes) text += to_text(note);
  if (p.summary.deadlock) text += p.summary.deadlock->to_text() + "\n";
  return text;
}

}  // namespace

std::string run_simulate(const FileTest& test) {
  Result<std::string> text = predicted(test);
  if (text) return *std::move(text);
  std::string out;
  for (const Problem& problem : text.problems()) out += to_text(problem);
  return out;
}

}  // namespace stave
