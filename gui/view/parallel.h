// Independent pieces of one job on a few threads that live as long as the call.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace stave::gui {

// work(i) for all i below `count`, in any order; `threads` 0: as many as there are cores.
template <class Work>
void in_parallel(std::size_t count, unsigned threads, Work work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) others.emplace_back(run);
  run();
  for (auto& thread : others) thread.join();
}

}  // namespace stave::gui
