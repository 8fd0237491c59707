// Clock and power. A device whose work draws more than its limit lowers its clock until it does not, after some tens of
// milliseconds; a prediction at full clock holds before that. Formulas and constants: docs/models.md.
//
// Codes: STV0862 the machine has no [energy].
#pragma once

#include <optional>

#include "simulator/simulate.h"

namespace stave {

// Watts of the rank that draws most, on average over the schedule, if it is repeated without a pause. None where the
// machine has no [energy].
std::optional<double> average_power_w(const Machine& machine, const PredictionSummary& predicted);

// The part of the full clock, at least a third, at which the average power is the limit; 1 where it never gets there.
// `full` is the prediction at full clock. Predicts a few times.
Result<double> sustained_clock(const Plan& plan, const Machine& machine, const SimulateOptions& options,
                               const PredictionSummary& full);

// simulate() at the sustained clock, which `options` get.
Result<Prediction> simulate_sustained(const Plan& plan, const Machine& machine, SimulateOptions& options);

}  // namespace stave
