// Runs plans on NVIDIA GPUs: one host thread a device, streams and events or one
// graph a rank, cuBLASLt, cuSOLVER, kernels compiled by NVRTC. Ranks of different
// devices meet in NCCL; ranks that share a device, which NCCL refuses, meet in
// device memory (mailbox.h). With a world, every process makes the same calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/cuda/recorder.h"
#include "executor/driver.h"
#include "executor/world.h"

namespace stave::cuda {

struct Gpu {
  int device = 0;
  std::string name;
  int capability = 0;  // 90 is 9.0
  std::uint32_t multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
};

// The devices of this machine. STV0826: none, or no driver, with the reason.
Result<std::vector<Gpu>> gpus();

struct CudaOptions {
  std::uint32_t ranks_per_device = 0;  // 0: as few as the devices allow
  std::uint32_t warmup = 0;            // steps that the recorder marks so
  bool flush_l2 = false;               // before each step
  Recorder* recorder = nullptr;        // must outlive the executions
  World* world = nullptr;              // several processes: rank r is that of process r; must outlive the executions
};

// Call it before the first CUDA call of the process: it sets what the driver and
// NCCL read from the environment only once.
void prepare_environment();

std::unique_ptr<Driver> create_cuda_driver(const CudaOptions& options);

// The device of each rank of this process, of `devices` that it sees; -1 for ranks of others.
// STV0826: too few devices. STV0831: more ranks than processes.
Result<std::vector<int>> local_devices(std::size_t ranks, std::size_t devices, const CudaOptions& options);

// The same of all ranks; every process calls it. STV0826: two on one GPU.
Result<std::vector<int>> all_devices(std::vector<int> local, World* world);

}  // namespace stave::cuda
