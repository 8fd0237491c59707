#include "executor/cuda/memory.h"

#include <algorithm>

#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"

namespace stave::cuda {
namespace {

std::vector<std::byte> constant_bytes(const Literals& literals, const Buffer& buffer) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.bytes));
  const std::int64_t elements = elements_of(buffer.shape);
  for (std::int64_t i = 0; i < elements && !literals.empty(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Scalar& s = literals[literals.size() == 1 ? 0 : at];
    if (is_float(buffer.dtype))
      store_double(bytes, buffer.dtype, at, is_float(s.dtype) ? s.number : static_cast<double>(s.integer));
    else
      store_signed(bytes, buffer.dtype, at, s.integer);
  }
  return bytes;
}

Failure too_large(const Expanded& expanded, Rank rank, std::int64_t needed) {
  std::vector<const Buffer*> largest;
  for (const Buffer& b : expanded.buffers) largest.push_back(&b);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 4); ++i)
    names += fmt::format("{}%{} {:.1f} MiB", i == 0 ? "" : ", ", expanded.module->text(largest[i]->name),
                         static_cast<double>(largest[i]->bytes) / (1 << 20));
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return error_at(
      {.file = expanded.module->file}, "STV0821",
      "rank {} needs {:.1f} MiB of device memory and {:.1f} of {:.1f} MiB are free; the largest buffers: {}", rank,
      static_cast<double>(needed) / (1 << 20), static_cast<double>(free) / (1 << 20),
      static_cast<double>(total) / (1 << 20), names);
}

}  // namespace

Allocations::Allocations(Allocations&& other) noexcept
    : device_(std::exchange(other.device_, {})),
      opened_(std::exchange(other.opened_, {})),
      pinned_(std::exchange(other.pinned_, {})) {}

Allocations::~Allocations() {
  for (void* at : opened_) cudaIpcCloseMemHandle(at);
  for (void* at : device_) cudaFree(at);
  for (void* at : pinned_) cudaFreeHost(at);
}

Result<void*> Allocations::device(std::size_t bytes) {
  void* at = nullptr;
  CUDA_TRY(cudaMalloc(&at, std::max<std::size_t>(bytes, 1)));
  device_.push_back(at);
  CUDA_TRY(cudaMemset(at, 0, bytes));
  return at;
}

Result<void*> Allocations::opened(const cudaIpcMemHandle_t& handle) {
  void* at = nullptr;
  CUDA_TRY(cudaIpcOpenMemHandle(&at, handle, cudaIpcMemLazyEnablePeerAccess));
  opened_.push_back(at);
  return at;
}

Result<void*> Allocations::pinned(std::size_t bytes) {
  void* at = nullptr;
  CUDA_TRY(cudaHostAlloc(&at, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable | cudaHostAllocMapped));
  pinned_.push_back(at);
  std::fill_n(static_cast<std::byte*>(at), bytes, std::byte{0});
  return at;
}

Result<void> RankMemory::place(const Expanded& expanded, bool host_buffers) {
  std::byte* next = arena_;
  for (const Buffer& b : expanded.buffers) {
    if (b.space == Space::Host) {
      void* at = nullptr;
      if (host_buffers) {
        TRY(at, allocations_.pinned(static_cast<std::size_t>(b.bytes)));
      }
      buffers_.push_back(static_cast<std::byte*>(at));
    } else {
      buffers_.push_back(next);
      next += allocated_bytes(b.bytes);
    }
  }
  return {};
}

Result<RankMemory> RankMemory::create(const Expanded& expanded, Rank rank, std::size_t words) {
  RankMemory memory;
  const std::int64_t size = device_bytes(expanded);
  // A handle for other processes names a whole piece of 2 MiB, which small allocations share.
  constexpr std::size_t piece = std::size_t{2} << 20;
  const std::size_t wanted = static_cast<std::size_t>(size) + words;
  Result<void*> at = memory.allocations_.device(words > 0 ? std::max(wanted, piece) : wanted);
  if (!at && at.problems()[0].code == "STV0821") return too_large(expanded, rank, size);
  if (!at) return Failure(at.problems());
  memory.arena_ = static_cast<std::byte*>(*at);
  TRY_VOID(memory.place(expanded, true));
  TRY_VOID(memory.forget(expanded));
  return memory;
}

Result<cudaIpcMemHandle_t> RankMemory::handle() const {
  cudaIpcMemHandle_t handle{};
  CUDA_TRY(cudaIpcGetMemHandle(&handle, arena_));
  return handle;
}

Result<RankMemory> RankMemory::open(const Expanded& expanded, const cudaIpcMemHandle_t& handle) {
  RankMemory memory;
  TRY(void* const at, memory.allocations_.opened(handle));
  memory.arena_ = static_cast<std::byte*>(at);
  TRY_VOID(memory.place(expanded, false));
  return memory;
}

Result<void> RankMemory::forget(const Expanded& expanded) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& b = expanded.buffers[BufferId{i}];
    std::vector<std::byte> contents;
    if (b.kind == Buffer::Kind::Constant) contents = constant_bytes(expanded.literals[b.literals], b);
    if (b.kind == Buffer::Kind::Constant)
      CUDA_TRY(cudaMemcpy(buffers_[i], contents.data(), contents.size(), cudaMemcpyDefault));
    else if (b.space == Space::Host)
      std::fill_n(buffers_[i], b.bytes, std::byte{0xff});
    else
      CUDA_TRY(cudaMemset(buffers_[i], 0xff, static_cast<std::size_t>(b.bytes)));
  }
  CUDA_TRY(cudaDeviceSynchronize());
  return {};
}

}  // namespace stave::cuda
