// What CUPTI told, before it becomes rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/lower/plan.h"
#include "core/timeline/timeline.h"
#include "executor/cuda/recorder.h"

namespace stave::cuda {

inline constexpr std::uint32_t whole_graph = 0xfffffff;  // as a command

// Which command's calls made something. `instance` tells apart the places of a
// graph that one command was captured into; 0 when it was issued eagerly.
struct CommandMark {
  Rank rank = 0;
  std::uint32_t command = 0;
  std::uint32_t instance = 0;
  std::uint32_t occurrence = 0;  // eager
};

// Nanoseconds.
struct DeviceRecord {
  enum class Kind : std::uint8_t { Kernel, Copy, Memset, Graph };
  Kind kind = Kind::Kernel;
  std::uint64_t start = 0, end = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_node = 0;  // 0: not of a graph
  std::uint32_t graph = 0;
  StringId name{};
  LaunchDims grid{}, block{}, cluster{};
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;                                        // Memset
  std::uint32_t copy_kind = 0, source_kind = 0, target_kind = 0;  // CUPTI's numbers
  std::uint32_t source_device = 0, target_device = 0;
};

struct ApiRecord {
  std::uint64_t start = 0, end = 0;
  std::uint32_t thread = 0, correlation = 0, result = 0;
  StringId name{};
};

struct StepRecord {
  Rank rank = 0;
  std::uint32_t number = 0;
  bool warmup = false;
  std::uint64_t start = 0, end = 0;
};

struct ClockSample {
  Rank rank = 0;
  std::uint32_t sm_mhz = 0, memory_mhz = 0, milliwatts = 0, celsius = 0;
  std::uint64_t time = 0;
};

struct Recorder::State {
  std::mutex mutex;
  Profile profile = Profile::Full;
  Strings names;
  std::vector<DeviceRecord> device;
  std::vector<ApiRecord> api;
  std::unordered_map<std::uint32_t, CommandMark> by_correlation;
  std::unordered_map<std::uint64_t, CommandMark> by_node;
  std::map<std::uint32_t, Rank> threads;  // by system thread id
  std::vector<StepRecord> steps;
  std::vector<ClockSample> samples;
  std::uint32_t instances = 0;
  std::uint64_t dropped = 0;   // records that CUPTI had no room for
  std::uint64_t timeless = 0;  // records that lost their times
  void* subscriber = nullptr;
};

// A state for another process of this build.
std::string packed(const Recorder::State& state);
// STV0944: not what `packed` makes.
Result<void> unpack(std::string_view bytes, Recorder::State& state);

// The rows of all that stands in the states, one of each process.
Result<void> send_rows(std::span<const Recorder::State* const> states, const Plan& plan,
                       const std::vector<int>& devices, const std::string& gpu, TimelineSink& sink);

}  // namespace stave::cuda
