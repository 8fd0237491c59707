// Handles of the libraries on one device.
#pragma once

#include <cublasLt.h>
#include <cusolverDn.h>

#include <memory>

#include "core/base/result.h"

namespace stave::cuda {

class Libraries {
 public:
  Libraries() = default;
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
  ~Libraries();

  // Made at the first use, on the current device. STV0823, STV0825.
  Result<cublasLtHandle_t> lt();
  Result<cusolverDnHandle_t> solver();

 private:
  cublasLtHandle_t lt_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
};

}  // namespace stave::cuda
