#include "executor/cuda/work.h"

#include <cstring>

namespace stave::cuda {
namespace {

#define NCCL_STATUS(call)                                                                     \
  if (const ncclResult_t r = (call); r != ncclSuccess && r != ncclInProgress) return Status { \
      Status::Library::Nccl, static_cast<int>(r), #call                                       \
    }

Status run(const KernelWork& w, cudaStream_t stream) {
  if (w.grid.x == 0 || w.grid.y == 0 || w.grid.z == 0) return {};
  cudaLaunchAttribute attributes[1];
  cudaLaunchConfig_t config{};
  config.gridDim = w.grid;
  config.blockDim = w.block;
  config.dynamicSmemBytes = w.shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  if (w.cluster.x * w.cluster.y * w.cluster.z > 1) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {w.cluster.x, w.cluster.y, w.cluster.z};
    config.numAttrs = 1;
  }
  return status_of(cudaLaunchKernelExC(&config, w.kernel, const_cast<void**>(w.parameters.data())),
                   "cudaLaunchKernelExC");
}

Status run(const FillWork& w, cudaStream_t stream) {
  return w.bytes == 0 ? Status{} : status_of(cudaMemsetAsync(w.to, w.value, w.bytes, stream), "cudaMemsetAsync");
}

Status run(const CopyWork& w, cudaStream_t stream) {
  return w.bytes == 0 ? Status{}
                      : status_of(cudaMemcpyAsync(w.to, w.from, w.bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

Status run(const GemmWork& w, cudaStream_t stream) {
  const float alpha = static_cast<float>(w.alpha), beta = static_cast<float>(w.beta);
  const cublasStatus_t r =
      cublasLtMatmul(w.handle, w.desc, w.wide ? static_cast<const void*>(&w.alpha) : &alpha, w.a_at, w.a, w.b_at, w.b,
                     w.wide ? static_cast<const void*>(&w.beta) : &beta, w.c_at, w.c, w.d_at, w.c, &w.algorithm,
                     w.workspace, w.workspace_bytes, stream);
  return r == CUBLAS_STATUS_SUCCESS ? Status{}
                                    : Status{Status::Library::CublasLt, static_cast<int>(r), "cublasLtMatmul"};
}

Status run(const PotrfWork& w, cudaStream_t stream) {
  cusolverStatus_t r = cusolverDnSetStream(w.handle, stream);
  for (int i = 0; i < w.batch && r == CUSOLVER_STATUS_SUCCESS; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * static_cast<std::size_t>(w.n) * static_cast<std::size_t>(w.n);
    r = w.wide ? cusolverDnDpotrf(w.handle, w.triangle, w.n, static_cast<double*>(w.matrix) + at, w.n,
                                  static_cast<double*>(w.workspace), w.workspace_elements, w.info + i)
               : cusolverDnSpotrf(w.handle, w.triangle, w.n, static_cast<float*>(w.matrix) + at, w.n,
                                  static_cast<float*>(w.workspace), w.workspace_elements, w.info + i);
  }
  return r == CUSOLVER_STATUS_SUCCESS ? Status{}
                                      : Status{Status::Library::Cusolver, static_cast<int>(r), "cusolverDnXpotrf"};
}

Status run(const NcclCall& c, cudaStream_t stream) {
  using Kind = NcclCall::Kind;
  switch (c.kind) {
    case Kind::AllReduce:
      NCCL_STATUS(ncclAllReduce(c.from, c.to, c.count, c.dtype, c.reduction, c.communicator, stream));
      break;
    case Kind::AllGather: NCCL_STATUS(ncclAllGather(c.from, c.to, c.count, c.dtype, c.communicator, stream)); break;
    case Kind::ReduceScatter:
      NCCL_STATUS(ncclReduceScatter(c.from, c.to, c.count, c.dtype, c.reduction, c.communicator, stream));
      break;
    case Kind::Broadcast:
      NCCL_STATUS(ncclBroadcast(c.from, c.to, c.count, c.dtype, c.peer, c.communicator, stream));
      break;
    case Kind::Send: NCCL_STATUS(ncclSend(c.from, c.count, c.dtype, c.peer, c.communicator, stream)); break;
    case Kind::Recv: NCCL_STATUS(ncclRecv(c.to, c.count, c.dtype, c.peer, c.communicator, stream)); break;
  }
  return {};
}

Status run(const NcclWork& w, cudaStream_t stream) {
  NCCL_STATUS(ncclGroupStart());
  for (const NcclCall& call : w.calls)
    if (const Status s = run(call, stream); !s.ok()) {
      ncclGroupEnd();
      return s;
    }
  NCCL_STATUS(ncclGroupEnd());
  return {};
}

}  // namespace

void KernelWork::add_bytes(const void* value, std::size_t size) {
  const std::size_t alignment = size >= 8 ? 8 : size;
  const std::size_t at = (bytes.size() + alignment - 1) / alignment * alignment;
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, value, size);
  offsets_.push_back(at);
}

void KernelWork::seal() {
  for (const std::size_t offset : offsets_) parameters.push_back(bytes.data() + offset);
}

Status issue(const Work& work, cudaStream_t stream) {
  return std::visit([&](const auto& w) { return run(w, stream); }, work);
}

Status issue(std::span<const Work> works, cudaStream_t stream) {
  for (const Work& work : works)
    if (const Status s = issue(work, stream); !s.ok()) return s;
  return {};
}

}  // namespace stave::cuda
