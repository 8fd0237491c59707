// The child that runs GPU work, `stave-gpu`: this process owns the store and the
// report and survives whatever happens there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/timeline/sink.h"
#include "executor/gpu_protocol.h"

namespace stave {

struct GpuOutcome {
  std::string gpu;             // "2 x NVIDIA H200"
  std::vector<GpuStep> steps;  // that ended
  std::vector<GpuBuffer> buffers;
  StepReport report;
};

// STAVE_GPU, or `stave-gpu` beside this program, or on PATH. STV0940: nowhere, since this build has no CUDA.
Result<std::string> find_stave_gpu();

// Rows of the timeline go to `sink` as they come, also before a failure. STV0941: the child ended without an
// answer; STV0942: it was silent for too long and was killed; STV0943: a signal ended it; STV0944, STV0950, and
// what the driver says.
Result<GpuOutcome> run_gpu_process(const std::string& program, const GpuRequest& request, TimelineSink* sink,
                                   Progress* progress);

}  // namespace stave
