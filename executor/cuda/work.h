// What a command becomes on its device: a list of pieces of work with all
// addresses, sizes and parameters filled in. Issuing one allocates nothing.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "executor/cuda/check.h"

namespace stave::cuda {

struct KernelWork {
  cudaKernel_t kernel = nullptr;
  dim3 grid{1}, block{1}, cluster{1};
  std::uint32_t shared_bytes = 0;
  int priority = 0;
  std::vector<std::byte> bytes;  // of the parameters; moved, never resized, once `parameters` point into it
  std::vector<void*> parameters;

  // Parameters in order; each is aligned to its size.
  template <class T>
  void add(T value) {
    add_bytes(&value, sizeof(T));
  }
  template <class T>
  void add(T* pointer) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    add_bytes(&address, sizeof(address));
  }
  void add_bytes(const void* value, std::size_t size);
  void seal();  // after the last add

 private:
  std::vector<std::size_t> offsets_;
};

struct FillWork {  // with one byte value
  void* to = nullptr;
  int value = 0;
  std::size_t bytes = 0;
};

struct CopyWork {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

struct GemmWork {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  const void *a_at = nullptr, *b_at = nullptr, *c_at = nullptr;
  void* d_at = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  double alpha = 1, beta = 0;
  bool wide = false;  // scales are f64, otherwise f32
};

struct PotrfWork {
  cusolverDnHandle_t handle = nullptr;
  cublasFillMode_t triangle = CUBLAS_FILL_MODE_LOWER;
  bool wide = false;
  int n = 0, batch = 1;
  void* matrix = nullptr;
  int* info = nullptr;
  void* workspace = nullptr;
  int workspace_elements = 0;
};

// Calls between ncclGroupStart and ncclGroupEnd.
struct NcclCall {
  enum class Kind : std::uint8_t { AllReduce, AllGather, ReduceScatter, Broadcast, Send, Recv };
  Kind kind = Kind::AllReduce;
  ncclComm_t communicator = nullptr;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  ncclDataType_t dtype = ncclUint8;
  ncclRedOp_t reduction = ncclSum;
  int peer = 0;  // Broadcast: the root
};
struct NcclWork {
  std::vector<NcclCall> calls;
};

using Work = std::variant<KernelWork, FillWork, CopyWork, GemmWork, PotrfWork, NcclWork>;

struct Launch {
  std::vector<Work> works;
  // In a graph what comes after the launch does not wait for these works; only the graph's end does.
  std::size_t aside_first = 0, aside_count = 0;
};

Status issue(const Work& work, cudaStream_t stream);
Status issue(std::span<const Work> works, cudaStream_t stream);

}  // namespace stave::cuda
