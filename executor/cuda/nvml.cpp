#include "executor/cuda/nvml.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <map>

namespace stave::cuda {
namespace {

// nvml.h does not come with every toolkit. Names, types and numbers: NVML API reference,
// "Device Queries"; NVML_CLOCK_SM is 1, NVML_CLOCK_MEM 2, NVML_TEMPERATURE_GPU 0, NVML_SUCCESS 0.
using Device = void*;
using Number = unsigned;

struct Nvml {
  int (*init)() = nullptr;
  int (*by_bus)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, Number*) = nullptr;
  int (*power)(Device, Number*) = nullptr;
  int (*temperature)(Device, int, Number*) = nullptr;
  bool usable = false;

  Nvml() {
    void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    usable = find(init, "nvmlInit_v2") && find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
             find(clock, "nvmlDeviceGetClockInfo") && find(power, "nvmlDeviceGetPowerUsage") &&
             find(temperature, "nvmlDeviceGetTemperature") && init() == 0;
  }
};

}  // namespace

std::optional<ClockSample> clocks_of(int device) {
  static const Nvml nvml;
  static std::map<int, Device> handles;
  if (!nvml.usable) return std::nullopt;
  Device& handle = handles[device];
  char bus[32];
  if (handle == nullptr &&
      (cudaDeviceGetPCIBusId(bus, sizeof(bus), device) != cudaSuccess || nvml.by_bus(bus, &handle) != 0))
    return std::nullopt;
  ClockSample s;
  if (nvml.clock(handle, 1, &s.sm_mhz) != 0 || nvml.clock(handle, 2, &s.memory_mhz) != 0) return std::nullopt;
  // Machines may hide these: then they stay 0.
  nvml.power(handle, &s.milliwatts);
  nvml.temperature(handle, 0, &s.celsius);
  return s;
}

}  // namespace stave::cuda
