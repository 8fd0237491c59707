#include "executor/cuda/check.h"

#include <cublasLt.h>
#include <nccl.h>

namespace stave::cuda {

Failure cuda_failure(cudaError_t error, std::string_view call, Place place) {
  return error_at(std::move(place), error == cudaErrorMemoryAllocation ? "STV0821" : "STV0820", "{} failed: {} ({})",
                  call, cudaGetErrorString(error), cudaGetErrorName(error));
}

Failure failure_of(const Status& status, std::string_view path, Rank rank, Place place) {
  switch (status.library) {
    case Status::Library::None: break;
    case Status::Library::Cuda: {
      const auto error = static_cast<cudaError_t>(status.code);
      return error_at(std::move(place), "STV0820", "`{}` on rank {}: {} failed: {} ({})", path, rank, status.call,
                      cudaGetErrorString(error), cudaGetErrorName(error));
    }
    case Status::Library::CublasLt:
      return error_at(std::move(place), "STV0823", "`{}` on rank {}: {} failed: {}", path, rank, status.call,
                      cublasLtGetStatusString(static_cast<cublasStatus_t>(status.code)));
    case Status::Library::Cusolver:
      return error_at(std::move(place), "STV0825", "`{}` on rank {}: {} failed with status {}", path, rank, status.call,
                      status.code);
    case Status::Library::Nccl:
      return error_at(std::move(place), "STV0824", "`{}` on rank {}: {} failed: {}", path, rank, status.call,
                      ncclGetErrorString(static_cast<ncclResult_t>(status.code)));
  }
  return error_at(std::move(place), "STV0820", "`{}` on rank {} failed", path, rank);
}

}  // namespace stave::cuda
