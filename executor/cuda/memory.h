// Memory that is taken in prepare and given back at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ir/expanded.h"
#include "core/lower/plan.h"
#include "executor/cuda/check.h"

namespace stave::cuda {

class Allocations {
 public:
  Allocations() = default;
  Allocations(Allocations&& other) noexcept;
  Allocations& operator=(Allocations&&) = delete;
  ~Allocations();

  // On the current device.
  Result<void*> device(std::size_t bytes);
  // What another process has allocated; its devices must be of this machine.
  Result<void*> opened(const cudaIpcMemHandle_t& handle);
  // Pinned, and readable by all devices at the same address.
  Result<void*> pinned(std::size_t bytes);
  template <class T>
  Result<T*> device_copy(std::span<const T> values) {
    TRY(void* at, device(values.size_bytes()));
    CUDA_TRY(cudaMemcpy(at, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    return static_cast<T*>(at);
  }

 private:
  std::vector<void*> device_, opened_, pinned_;
};

// The buffers of one rank. Contents start as bytes 0xff, constants as they are.
class RankMemory {
 public:
  // Behind the buffers stand `words` bytes of zeros that others may write. STV0821 names the
  // largest buffers if they do not fit.
  static Result<RankMemory> create(const Expanded& expanded, Rank rank, std::size_t words);

  // For another process to open. STV0820.
  Result<cudaIpcMemHandle_t> handle() const;
  // The device buffers of a rank of another process.
  static Result<RankMemory> open(const Expanded& expanded, const cudaIpcMemHandle_t& handle);

  // Puts all contents back to what they are at the start.
  Result<void> forget(const Expanded& expanded);

  std::byte* words(const Expanded& expanded) const { return arena_ + device_bytes(expanded); }
  std::byte* buffer(BufferId id) const { return buffers_[id.value]; }
  std::byte* view(const Expanded& expanded, ViewId id, Rank rank) const {
    return buffer(expanded[id].buffer) + expanded.at(expanded[id].offset, rank);
  }

 private:
  Result<void> place(const Expanded& expanded, bool host_buffers);

  Allocations allocations_;
  std::byte* arena_ = nullptr;
  std::vector<std::byte*> buffers_;
};

}  // namespace stave::cuda
