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
#include "executor/gpu_protocol.h"
#include "executor/world.h"

namespace stave::cuda {

class Recorder {
 public:
  struct State;

  // Before the first CUDA call of the process. STV0827: CUPTI refuses, with its reason.
  static Result<std::unique_ptr<Recorder>> start(Profile profile);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What the calling thread does outside of commands counts for this rank from now on.
  void rank_thread(Rank rank);
  // Around the calls that issue or capture a command; `occurrence` counts its executions in a step.
  void begin(Rank rank, CommandId command, std::uint32_t occurrence);
  void end();
  // Around the launch of a rank's whole graph.
  void begin_graph(Rank rank);
  // Clocks, power and temperature of a rank's device now, where the driver tells them.
  void sample(Rank rank, int device);
  // Nanoseconds of the clock that the records have.
  std::uint64_t now() const;
  // A step of one rank; `number` from 0.
  void step(Rank rank, std::uint32_t number, bool warmup, std::uint64_t start, std::uint64_t end);

  // Stops, and sends all it has. Devices are by rank. With a world the first process sends
  // what all recorded, the others nothing; every process calls it.
  Result<void> finish(const Plan& plan, const std::vector<int>& devices, const std::string& gpu, World* world,
                      TimelineSink& sink);

 private:
  explicit Recorder(std::unique_ptr<State> state);
  void mark(const struct CommandMark& mark);
  std::unique_ptr<State> state_;
};

}  // namespace stave::cuda
