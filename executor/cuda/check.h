// Errors of the CUDA libraries as Problems, and as values that a hot loop can
// carry without an allocation.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/ir/values.h"

namespace stave::cuda {

// STV0820; out of memory is STV0821.
Failure cuda_failure(cudaError_t error, std::string_view call, Place place = {});

#define CUDA_TRY(call)                                                                                          \
  do {                                                                                                          \
    if (const cudaError_t cuda_error = (call); cuda_error != cudaSuccess)                                       \
      return ::stave::cuda::cuda_failure(cuda_error,                                                            \
                                         std::string_view(#call).substr(0, std::string_view(#call).find('('))); \
  } while (false)

// What issuing one piece of work gave. No library: it worked.
struct Status {
  enum class Library : unsigned char { None, Cuda, CublasLt, Cusolver, Nccl };
  Library library = Library::None;
  int code = 0;
  const char* call = "";

  bool ok() const { return library == Library::None; }
};
inline Status status_of(cudaError_t error, const char* call) {
  return error == cudaSuccess ? Status{} : Status{Status::Library::Cuda, static_cast<int>(error), call};
}
// STV0820, STV0823 (cuBLASLt), STV0824 (NCCL), STV0825 (cuSOLVER).
Failure failure_of(const Status& status, std::string_view path, Rank rank, Place place);

}  // namespace stave::cuda
