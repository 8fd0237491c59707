// A timeline through a pipe between two processes of one machine and one build:
// frames of a kind, a length and a payload; integers little-endian, strings with
// their length in front. STV0944: a frame that does not follow this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/sink.h"

namespace stave {

// Kinds below 32 are batches of rows; the rest belongs to whoever uses the pipe.
enum class FrameKind : std::uint32_t {
  Sources,
  Ranks,
  Names,
  Tracks,
  Commands,
  Slices,
  Flows,
  Kernels,
  Copies,
  Calls,
  Args,
  Collectives,
  Costs,
  Counters,
  Steps,
  Problems,
  FirstOther = 32
};

struct PipeFrame {
  std::uint32_t kind = 0;
  std::string payload;
};

inline constexpr std::uint64_t max_frame_bytes = std::uint64_t{1} << 40;

// Whole or an error. STV0944.
Result<void> write_frame(int fd, std::uint32_t kind, std::string_view payload);
// None: the other side closed between two frames. STV0944: in the middle of one.
Result<std::optional<PipeFrame>> read_frame(int fd);

// Values one after the other.
class ByteWriter {
 public:
  void number(std::uint64_t value);
  void real(double value);
  void text(std::string_view value);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number();
  double real();
  std::string_view text();
  // False: a value was missing; what was read since then is 0 or empty.
  bool fine() const { return fine_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool fine_ = true;
};

// Sends each batch as a frame.
class PipeSink final : public TimelineSink {
 public:
  using Send = std::function<Result<void>(FrameKind kind, std::string_view payload)>;
  explicit PipeSink(Send send) : send_(std::move(send)) {}

  Result<void> on_sources(std::span<const SourceInfo> batch) override;
  Result<void> on_ranks(std::span<const RankInfo> batch) override;
  Result<void> on_names(std::span<const std::string_view> batch) override;
  Result<void> on_tracks(std::span<const Track> batch) override;
  Result<void> on_commands(std::span<const TimelineCommand> batch) override;
  Result<void> on_slices(std::span<const Slice> batch) override;
  Result<void> on_flows(std::span<const SliceFlow> batch) override;
  Result<void> on_kernels(std::span<const KernelDetail> batch) override;
  Result<void> on_copies(std::span<const CopyDetail> batch) override;
  Result<void> on_calls(std::span<const ApiDetail> batch) override;
  Result<void> on_args(std::span<const ArgsDetail> batch) override;
  Result<void> on_collectives(std::span<const CollectiveDetail> batch) override;
  Result<void> on_costs(std::span<const CostPart> batch) override;
  Result<void> on_counters(std::span<const CounterSample> batch) override;
  Result<void> on_steps(std::span<const StepSpan> batch) override;
  Result<void> on_problems(std::span<const TimelineProblem> batch) override;

 private:
  Send send_;
};

// Hands the rows of a frame to a sink. False: the frame is none of rows. STV0944, and what the sink refuses.
Result<bool> take_rows(const PipeFrame& frame, TimelineSink& sink);

}  // namespace stave
