#include <algorithm>
#include <cstdlib>

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
                   static_cast<std::int64_t>(p.totalGlobalMem)});
  }
  return all;
}

void prepare_environment() {
  // Streams that share a hardware queue wait for each other: 8 queues by default, 32 at most.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  // NVLink multicast stays off: an aborted collective that uses it can leave the fabric unusable.
  ::setenv("NCCL_NVLS_ENABLE", "0", 0);
}

Result<std::vector<int>> devices_of(std::size_t ranks, std::size_t devices, std::uint32_t ranks_per_device) {
  const std::size_t per =
      ranks_per_device > 0 ? ranks_per_device : std::max<std::size_t>((ranks + devices - 1) / devices, 1);
  if ((ranks + per - 1) / per > devices)
    return error_at({}, "STV0826", "{} ranks with {} a device need {} devices; there are {}", ranks, per,
                    (ranks + per - 1) / per, devices);
  std::vector<int> out;
  for (std::size_t r = 0; r < ranks; ++r) out.push_back(static_cast<int>(r / per));
  return out;
}

}  // namespace stave::cuda
