// Memory that is taken in prepare and given back at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ir/expanded.h"
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
  // Pinned, and readable by all devices at the same address.
  Result<void*> pinned(std::size_t bytes);
  template <class T>
  Result<T*> device_copy(std::span<const T> values) {
    TRY(void* at, device(values.size_bytes()));
    CUDA_TRY(cudaMemcpy(at, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
    return static_cast<T*>(at);
  }

 private:
  std::vector<void*> device_, pinned_;
};

// The buffers of one rank. Contents start as bytes 0xff, constants as they are.
class RankMemory {
 public:
  // STV0821 names the largest buffers if they do not fit.
  static Result<RankMemory> create(const Expanded& expanded, Rank rank);

  // Puts all contents back to what they are at the start.
  Result<void> forget(const Expanded& expanded);

  std::byte* buffer(BufferId id) const { return buffers_[id.value]; }
  std::byte* view(const Expanded& expanded, ViewId id, Rank rank) const {
    return buffer(expanded[id].buffer) + expanded.at(expanded[id].offset, rank);
  }

 private:
  Allocations allocations_;
  std::vector<std::byte*> buffers_;
};

}  // namespace stave::cuda
