// Pinned memory that kernels and host threads share: whether to give up, what
// each stream waits for, and what went wrong on a device.
#pragma once

#include <cstdint>

namespace stave::cuda {

// What the waiting kernel of one (rank, stream) last said. Written by one thread.
struct WaitNote {
  std::uint32_t waiting = 0;    // 1: it waits now
  std::uint32_t command = 0;    // that waits
  std::uint32_t peer = 0;       // rank
  std::uint32_t leaving = 0;    // 0: for the peer's part to start, 1: for it to have moved or read its part
  std::uint64_t sequence = 0;   // of that collective in its channel, from 1
  std::uint32_t last_done = 0;  // last collective that ended here, + 1; 0: none
  std::uint32_t pad = 0;
};

// How often a command of NCCL began and ended, from kernels beside it in a graph.
struct CommandMarks {
  std::uint32_t begun = 0, ended = 0;
  std::uint64_t ended_at = 0;  // nanoseconds of the device's clock
};

// Written once, by whoever finds it first (`claimed`); then `kind`.
struct DeviceFault {
  enum Kind : std::uint32_t { None = 0, Mismatch = 1, Endless = 2 };
  std::uint32_t claimed = 0;
  std::uint32_t kind = None;
  std::uint32_t rank = 0;
  std::uint32_t command = 0;
  std::uint32_t peer = 0;
  std::uint32_t peer_command = 0;
};

struct BoardHead {
  std::uint32_t abort = 0;  // kernels that wait give up when it is not 0
  std::uint32_t pad = 0;
  DeviceFault fault;
};

}  // namespace stave::cuda
