// What-if: an edit says what would be different about a schedule or a machine. Edits
// are applied to copies, which are predicted again; nothing is changed in place.
//
// Codes: STV1930 no such field of the machine, STV1931 a value that the field cannot
// have, STV1932 no such command, STV1933 a command that cannot be moved; and what
// the edited schedule breaks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/ir/values.h"
#include "simulator/simulate.h"

namespace stave {

// A number of the machine file: "device.sm_count", "host.launch_ps", "link.peer.bandwidth_bytes_per_s",
// "collective.all_gather.channels" (of all its algorithms), "kernel.gemm.memory_efficiency". A `*` stands for
// any characters but dots: "host.*launch_ps", "link.*.latency_ps". "link.device." is the link between two devices.
struct MachineEdit {
  std::string field;
  double value = 1;     // in the unit that ends the key
  bool factor = false;  // `value` multiplies what is there

  friend bool operator==(const MachineEdit&, const MachineEdit&) = default;
};
struct ParamEdit {
  std::string name;
  std::string value;

  friend bool operator==(const ParamEdit&, const ParamEdit&) = default;
};
// The async_start that is, or is around, the command gets another stream; so does whatever else that statement starts.
struct StreamEdit {
  std::string command;  // its path
  StreamRef stream;

  friend bool operator==(const StreamEdit&, const StreamEdit&) = default;
};
using Edit = std::variant<MachineEdit, ParamEdit, StreamEdit>;
using Edits = std::vector<Edit>;

// "device.sm_count = 64", "host.* x 0.5", "param chunks = 8", "main/async_start#1 on communication 1"
std::string to_text(const Edit& edit);
std::string to_text(const Edits& edits);
// Replaces the edit of the same thing, or adds one.
void set(Edits& edits, Edit edit);
// Of the same field, param or command; null if there is none.
const Edit* find(const Edits& edits, const Edit& like);

// What is predicted.
struct Situation {
  std::shared_ptr<const Module> module;
  Machine machine;
  std::vector<std::pair<std::string, std::string>> params;  // values by name
};
// In order. The machine's text says the edited values, with "edited" as their source.
Result<Situation> apply_edits(Situation base, std::span<const Edit> edits);

struct SituationPrediction {
  Prediction prediction;
  double clock = 1;               // part of the full one
  std::int64_t device_bytes = 0;  // of the rank that needs most
  std::uint32_t ranks = 0;
};
// As predict() in workbench/, of a machine and a module that need not be files. STV0854: more ranks than devices.
// `sustained`: at the clock that devices keep (simulator/power.h).
Result<SituationPrediction> predict(const Situation& situation, Mode mode, SimulateOptions options = {},
                                    bool sustained = false);

// A number of a machine, by the name that an edit takes.
struct MachineNumber {
  std::string field;
  double value = 0;
  std::string source;
};
std::vector<MachineNumber> numbers_of(const Machine& machine);
// None: there is no such field.
std::optional<double> number_of(const Machine& machine, std::string_view field);

}  // namespace stave
