// Several processes that run one plan together, one rank each: who is who, and an
// exchange of bytes over TCP beside the GPUs' own connections. Every process makes
// the same calls in the same order.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stave {

// Where this process stands among those that were started together.
struct WorldPlace {
  std::uint32_t process = 0;  // that of rank 0 collects what all of them recorded and computed
  std::uint32_t processes = 1;
  std::uint32_t local_rank = 0;  // its number among those of its machine
  std::string rendezvous;        // "tcp://HOST:PORT" of process 0, or "file:PATH" where it writes its address
  std::string job;               // what all of them know and those of another run do not; with tcp only

  friend bool operator==(const WorldPlace&, const WorldPlace&) = default;
};

// From STAVE_RANK, STAVE_WORLD_SIZE, STAVE_LOCAL_RANK; OpenMPI's OMPI_COMM_WORLD_*;
// PMI_* of MPICH and others; SLURM_* of a job step. None: one process. The rendezvous
// is STAVE_RENDEZVOUS, by default a port of 127.0.0.1; the job STAVE_JOB or the launcher's. STV0828: numbers that do
// not fit.
using Environment = std::function<const char*(const char*)>;
Result<std::optional<WorldPlace>> world_place(const Environment& environment);

class World {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Waits for all processes. STV0828: they do not come, or a stranger does.
  static Result<World> join(const WorldPlace& place, Deadline deadline);
  World(World&& other) noexcept;
  World& operator=(World&&) = delete;
  ~World();

  std::uint32_t process() const { return place_.process; }
  std::uint32_t processes() const { return place_.processes; }
  std::uint32_t local_rank() const { return place_.local_rank; }

  // Everyone gives bytes and gets those of all, by process. `what` names the call: STV0829
  // if the others make another one, STV0828 if one is gone or late; after that all calls fail.
  Result<std::vector<std::string>> all_gather(std::string_view what, std::string_view bytes, Deadline deadline);

  // True once a process that this one talks to has closed.
  bool broken() const;

 private:
  explicit World(WorldPlace place) : place_(std::move(place)) {}
  Result<std::vector<std::string>> exchange_all(std::string_view what, std::string_view bytes, Deadline deadline);

  WorldPlace place_;
  std::vector<int> peers_;  // process 0: of each other process, at number - 1; others: process 0
  bool lost_ = false;       // what a late process sends now is not for the next call
};

}  // namespace stave
