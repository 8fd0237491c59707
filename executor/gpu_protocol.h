// What `stave-gpu` is told and what it tells, over core/timeline/pipe.h: one
// Request to it; then a Gpu, a Step after each step, the Buffers, the rows of the
// timeline, and at the end Done or Failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/pipe.h"
#include "executor/driver.h"

namespace stave {

enum class GpuFrame : std::uint32_t { Request = 32, Gpu, Step, Buffer, Done, Failed };

// The other end of the pipe to the parent: standard output belongs to libraries that print.
inline constexpr int gpu_pipe = 3;

// What the recorder keeps: everything, or one record for each launch of a graph, which
// disturbs the run least.
enum class Profile : std::uint8_t { Off, Full, Graph };

struct GpuRequest {
  std::string file;  // for messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> params;
  Mode mode = Mode::Eager;
  std::vector<std::string> inputs;     // "a=random:7"; a parameter without one gets random:0
  std::uint32_t ranks_per_device = 0;  // 0: as few as the devices allow
  std::uint32_t warmup = 0;
  std::uint32_t repeat = 1;
  std::chrono::milliseconds timeout{60'000};  // of a step
  std::chrono::milliseconds duration{0};      // steps count until then, and at least `repeat`
  Profile profile = Profile::Off;
  bool flush_l2 = false;    // before each step
  bool name_hangs = false;  // PrepareOptions
  bool outputs = true;

  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// An out or inout parameter after the last step.
struct GpuBuffer {
  Rank rank = 0;
  std::uint32_t parameter = 0;  // position among the entry's parameters
  std::string bytes;

  friend bool operator==(const GpuBuffer&, const GpuBuffer&) = default;
};

struct GpuStep {
  std::uint32_t number = 0;            // from 0, warm-up steps first
  std::vector<Picoseconds> durations;  // by rank
  std::vector<Picoseconds> issue;      // by rank

  friend bool operator==(const GpuStep&, const GpuStep&) = default;
};

std::string encode(const GpuRequest& request);
std::string encode(const GpuBuffer& buffer);
std::string encode(const GpuStep& step);
std::string encode(const StepReport& report);  // but for `text`
std::string encode(const Problems& problems);

// STV0944: not what `encode` makes.
Result<GpuRequest> decode_request(std::string_view bytes);
Result<GpuBuffer> decode_buffer(std::string_view bytes);
Result<GpuStep> decode_step(std::string_view bytes);
Result<StepReport> decode_report(std::string_view bytes);
Result<Problems> decode_problems(std::string_view bytes);

}  // namespace stave
