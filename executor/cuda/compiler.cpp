#include "executor/cuda/compiler.h"

#include <nvrtc.h>

#include "core/base/sha256.h"
#include "executor/cuda/check.h"

namespace stave::cuda {

Compiler::~Compiler() {
  for (auto& [key, loaded] : libraries_) cudaLibraryUnload(loaded.library);
}

Result<std::vector<char>> Compiler::compile(std::string_view source, std::string_view entry,
                                            std::string& lowered) const {
  nvrtcProgram program = nullptr;
  const std::string text(source), name(entry);
  if (nvrtcCreateProgram(&program, text.c_str(), "source.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    return error_at({}, "STV0822", "NVRTC cannot start");
  // A name that stands in the text as extern "C" needs no lookup, and asking for one would instantiate it.
  const bool c_name = text.find("extern \"C\"") != std::string::npos;
  if (!c_name) nvrtcAddNameExpression(program, name.c_str());
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability_);
  // Products and sums are rounded apart, as docs/numerics.md says.
  const char* options[] = {architecture.c_str(), "--std=c++17", "--fmad=false", "--device-int128"};
  const nvrtcResult result = nvrtcCompileProgram(program, 4, options);
  if (result != NVRTC_SUCCESS) {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    nvrtcDestroyProgram(&program);
    return error_at({}, "STV0822", "{}: {}", nvrtcGetErrorString(result), log.substr(0, log.find('\0')));
  }
  lowered.clear();
  const char* found = nullptr;
  if (!c_name && nvrtcGetLoweredName(program, name.c_str(), &found) == NVRTC_SUCCESS && found) lowered = found;
  std::size_t size = 0;
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> code(size);
  nvrtcGetCUBIN(program, code.data());
  nvrtcDestroyProgram(&program);
  return code;
}

Result<cudaKernel_t> Compiler::kernel_of(const Loaded& loaded, std::string_view entry) const {
  cudaKernel_t kernel = nullptr;
  const std::string name = loaded.lowered.empty() ? std::string(entry) : loaded.lowered;
  if (const cudaError_t error = cudaLibraryGetKernel(&kernel, loaded.library, name.c_str()); error != cudaSuccess)
    return error_at({}, "STV0822", "there is no kernel \"{}\" in this source ({})", entry, cudaGetErrorName(error));
  // Lazy loading would otherwise stop at the first launch, behind a kernel that spins.
  cudaFuncAttributes attributes{};
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess)
    return cuda_failure(error, "cudaFuncGetAttributes");
  return kernel;
}

Result<cudaKernel_t> Compiler::cuda(std::string_view source, std::string_view entry) {
  const std::lock_guard lock(mutex_);
  const bool c_name = source.find("extern \"C\"") != std::string_view::npos;
  const std::string key = "cuda " + (c_name ? std::string() : std::string(entry)) + sha256(source);
  auto at = libraries_.find(key);
  if (at == libraries_.end()) {
    Loaded made;
    TRY(const std::vector<char> code, compile(source, entry, made.lowered));
    CUDA_TRY(cudaLibraryLoadData(&made.library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    at = libraries_.emplace(key, made).first;
  }
  return kernel_of(at->second, entry);
}

Result<cudaKernel_t> Compiler::loaded(std::string_view code, std::string_view entry) {
  const std::lock_guard lock(mutex_);
  const std::string key = "code " + sha256(code);
  auto at = libraries_.find(key);
  if (at == libraries_.end()) {
    Loaded made;
    const std::string copy(code);  // PTX must end with a zero
    if (const cudaError_t error =
            cudaLibraryLoadData(&made.library, copy.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
        error != cudaSuccess) {
      cudaGetLastError();
      return error_at({}, "STV0822", "the driver does not take this source: {} ({})", cudaGetErrorString(error),
                      cudaGetErrorName(error));
    }
    at = libraries_.emplace(key, made).first;
  }
  return kernel_of(at->second, entry);
}

}  // namespace stave::cuda
