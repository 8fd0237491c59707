// The suites of tests/conformance and tests/executor run over the driver cuda here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

#include "executor/cuda/cuda_driver.h"
#include "executor/drivers.h"
#include "tests/conformance/harness.h"
#include "tests/cuda/allocations.h"

namespace stave {
namespace {

std::atomic<std::int64_t> allocations{0};
std::optional<World> world;

constexpr int nothing_tested = 77;

}  // namespace

std::int64_t allocations_until_now() { return allocations; }

}  // namespace stave

void* operator new(std::size_t size) {
  stave::allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  std::abort();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  stave::cuda::prepare_environment();
  const auto place = stave::world_place(std::getenv);
  if (place && *place) {
    auto joined = stave::World::join(**place, std::chrono::steady_clock::now() + std::chrono::seconds(60));
    if (!joined) return std::printf("%s\n", joined.problems()[0].message.c_str()), 1;
    stave::world.emplace(*std::move(joined));
    std::printf("process %u of %u\n", stave::world->process(), stave::world->processes());
  }
  stave::add_driver(
      {"cuda", +[] { return stave::cuda::create_cuda_driver({.world = stave::world ? &*stave::world : nullptr}); }});
  stave::conformance::driver_under_test = "cuda";
  testing::InitGoogleTest(&argc, argv);
  const auto gpus = stave::cuda::gpus();
  if (!gpus) {
    // What needs no GPU still runs; the exit code says that the rest did not.
    testing::GTEST_FLAG(filter) = "CudaSource.*";
    const int failed = RUN_ALL_TESTS();
    std::printf("skipped: %s\n", gpus.problems()[0].message.c_str());
    return failed != 0 ? failed : stave::nothing_tested;
  }
  for (const stave::cuda::Gpu& gpu : *gpus) std::printf("device %d: %s\n", gpu.device, gpu.name.c_str());
  const int failed = RUN_ALL_TESTS();
  if (stave::world)
    std::printf("%d plans ran over %u processes, %d with more ranks on the reference driver\n",
                stave::conformance::ran_here, stave::world->processes(), stave::conformance::ran_on_reference);
  // A test of a hang may leave a kernel behind that no destructor gets past.
  std::fflush(nullptr);
  ::_exit(failed);
}
