#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "core/timeline/pipe.h"
#include "executor/cuda/check.h"
#include "executor/cuda/cuda_driver.h"

namespace stave::cuda {

Result<std::vector<Gpu>> gpus() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    cudaGetLastError();
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
      return error_at({}, "STV0826", "no GPU can be used: this machine has no NVIDIA driver");
    return error_at({}, "STV0826", "no GPU can be used: {}", cudaGetErrorString(error));
  }
  if (count == 0) return error_at({}, "STV0826", "no GPU can be used: this machine has none");
  std::vector<Gpu> all;
  for (int d = 0; d < count; ++d) {
    cudaDeviceProp p{};
    CUDA_TRY(cudaGetDeviceProperties(&p, d));
    all.push_back({d, p.name, p.major * 10 + p.minor, static_cast<std::uint32_t>(p.multiProcessorCount),
                   static_cast<std::int64_t>(p.totalGlobalMem), p.l2CacheSize});
  }
  return all;
}

void prepare_environment() {
  // Streams that share a hardware queue wait for each other: 8 queues by default, 32 at most.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // NVLink multicast stays off: an aborted collective that uses it can leave the fabric unusable.
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
  // Communicators connect where they are made, not in their first collective: ranks that capture or issue their first
  // collectives in different order would wait there for each other, on the host.
  ::setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  // NCCL's graphs hold event nodes, which no conditional body takes, unless told before its first call that a
  // communicator is used by one graph or one stream at a time (seen with NCCL 2.28.3: cudaGraphInstantiate refuses).
  ::setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
}

Result<std::vector<int>> local_devices(std::size_t ranks, std::size_t devices, const CudaOptions& options) {
  if (options.world) {
    // NCCL takes one rank a device, and a process has no other's.
    if (ranks > options.world->processes())
      return error_at({}, "STV0831", "the schedule has {} ranks and {} processes run it; start one for each rank",
                      ranks, options.world->processes());
    std::vector<int> out(ranks, -1);
    if (options.world->process() < ranks)
      out[options.world->process()] = static_cast<int>(options.world->local_rank() % devices);
    return out;
  }
  const std::uint32_t asked = options.ranks_per_device;
  const std::size_t per = asked > 0 ? asked : std::max<std::size_t>((ranks + devices - 1) / devices, 1);
  if ((ranks + per - 1) / per > devices)
    return error_at({}, "STV0826", "{} ranks with {} a device need {} devices; there are {}", ranks, per,
                    (ranks + per - 1) / per, devices);
  std::vector<int> out;
  for (std::size_t r = 0; r < ranks; ++r) out.push_back(static_cast<int>(r / per));
  return out;
}

Result<std::vector<int>> all_devices(std::vector<int> local, World* world) {
  if (world == nullptr) return local;
  ByteWriter own;
  for (const int device : local) {
    if (device < 0) continue;
    char host[256] = "", bus[32] = "";
    ::gethostname(host, sizeof(host) - 1);
    cudaDeviceGetPCIBusId(bus, sizeof(bus), device);
    own.number(static_cast<std::uint64_t>(device));
    own.text(fmt::format("{} {}", host, bus));
  }
  TRY(const std::vector<std::string> all,
      world->all_gather("devices", own.bytes(), std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  std::map<std::string, std::size_t, std::less<>> taken;
  for (std::size_t rank = 0; rank < local.size(); ++rank) {
    ByteReader reader(all[rank]);
    local[rank] = static_cast<int>(reader.number());
    const auto [at, added] = taken.try_emplace(std::string(reader.text()), rank);
    if (!added)
      return error_at({}, "STV0826",
                      "processes {} and {} are on one GPU ({}); start as many on a machine as it has GPUs", at->second,
                      rank, at->first);
  }
  return local;
}

}  // namespace stave::cuda
