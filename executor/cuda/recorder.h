// What ran on the devices and in the host threads, from CUPTI, as a timeline.
// One recorder a process: CUPTI has one subscriber, and a second session gives
// wrong correlation ids for graph launches (CUPTI 13.0 release notes).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/lower/plan.h"
#include "core/timeline/sink.h"

namespace stave::cuda {

class Recorder {
 public:
  struct State;

  // Before the first CUDA call of the process. STV0827: CUPTI refuses, with its reason.
  static Result<std::unique_ptr<Recorder>> start();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What the calling thread does outside of commands counts for this rank from now on.
  void rank_thread(Rank rank);
  // Around the calls that issue or capture a command; `occurrence` counts its executions in a step.
  void begin(Rank rank, CommandId command, std::uint32_t occurrence);
  void end();
  // Nanoseconds of the clock that the records have.
  std::uint64_t now() const;
  // A step of one rank; `number` from 0.
  void step(Rank rank, std::uint32_t number, bool warmup, std::uint64_t start, std::uint64_t end);

  // Stops, and sends all it has. Devices are by rank.
  Result<void> finish(const Plan& plan, const std::vector<int>& devices, const std::string& gpu, TimelineSink& sink);

 private:
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stave::cuda
