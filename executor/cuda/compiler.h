// Kernels from text: NVRTC for CUDA C++, the driver for PTX and cubins. Each
// text is compiled once and loaded once a process.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stave::cuda {

class Compiler {
 public:
  // For devices of this compute capability: 90 is 9.0. Makes no CUDA call.
  explicit Compiler(int capability) : capability_(capability) {}
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // Machine code of CUDA C++. STV0822 with NVRTC's log. `entry`, if it is not
  // extern "C", is looked up as a C++ name, and `lowered` gets the name to load; else it is empty.
  Result<std::vector<char>> compile(std::string_view source, std::string_view entry, std::string& lowered) const;

  Result<cudaKernel_t> cuda(std::string_view source, std::string_view entry);
  // PTX text or the bytes of a cubin. STV0822 if the driver refuses it.
  Result<cudaKernel_t> loaded(std::string_view code, std::string_view entry);

 private:
  struct Loaded {
    cudaLibrary_t library = nullptr;
    std::string lowered;
  };
  Result<cudaKernel_t> kernel_of(const Loaded& loaded, std::string_view entry) const;

  int capability_;
  std::mutex mutex_;                         // devices capture their graphs at the same time
  std::map<std::string, Loaded> libraries_;  // by SHA-256 of kind, entry where it matters, and text
};

}  // namespace stave::cuda
