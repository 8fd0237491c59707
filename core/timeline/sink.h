// Where a timeline goes while it is made: into memory, a file, or a pipe.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/timeline/rows.h"

namespace stave {

inline constexpr std::size_t max_batch_rows = 65536;

// Takes rows in batches of at most max_batch_rows. Names, tracks, commands,
// sources and slices get consecutive ids in the order they arrive (slices from
// 1, the others from 0), and a row may name only what arrived before it. A name
// arrives once. Kernels, copies, calls, args and collectives are at most one a
// slice. An error is final: the sink takes nothing after it.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;

  virtual Result<void> on_sources(std::span<const SourceInfo> batch) = 0;
  virtual Result<void> on_ranks(std::span<const RankInfo> batch) = 0;
  virtual Result<void> on_names(std::span<const std::string_view> batch) = 0;
  virtual Result<void> on_tracks(std::span<const Track> batch) = 0;
  virtual Result<void> on_commands(std::span<const TimelineCommand> batch) = 0;
  virtual Result<void> on_slices(std::span<const Slice> batch) = 0;
  virtual Result<void> on_flows(std::span<const SliceFlow> batch) = 0;
  virtual Result<void> on_kernels(std::span<const KernelDetail> batch) = 0;
  virtual Result<void> on_copies(std::span<const CopyDetail> batch) = 0;
  virtual Result<void> on_calls(std::span<const ApiDetail> batch) = 0;
  virtual Result<void> on_args(std::span<const ArgsDetail> batch) = 0;
  virtual Result<void> on_collectives(std::span<const CollectiveDetail> batch) = 0;
  virtual Result<void> on_costs(std::span<const CostPart> batch) = 0;
  virtual Result<void> on_counters(std::span<const CounterSample> batch) = 0;
  virtual Result<void> on_steps(std::span<const StepSpan> batch) = 0;
  virtual Result<void> on_problems(std::span<const TimelineProblem> batch) = 0;
};

// Rows go nowhere; for what only counts, or looks at some of them.
class NullSink : public TimelineSink {
 public:
  Result<void> on_sources(std::span<const SourceInfo>) override { return {}; }
  Result<void> on_ranks(std::span<const RankInfo>) override { return {}; }
  Result<void> on_names(std::span<const std::string_view>) override { return {}; }
  Result<void> on_tracks(std::span<const Track>) override { return {}; }
  Result<void> on_commands(std::span<const TimelineCommand>) override { return {}; }
  Result<void> on_slices(std::span<const Slice>) override { return {}; }
  Result<void> on_flows(std::span<const SliceFlow>) override { return {}; }
  Result<void> on_kernels(std::span<const KernelDetail>) override { return {}; }
  Result<void> on_copies(std::span<const CopyDetail>) override { return {}; }
  Result<void> on_calls(std::span<const ApiDetail>) override { return {}; }
  Result<void> on_args(std::span<const ArgsDetail>) override { return {}; }
  Result<void> on_collectives(std::span<const CollectiveDetail>) override { return {}; }
  Result<void> on_costs(std::span<const CostPart>) override { return {}; }
  Result<void> on_counters(std::span<const CounterSample>) override { return {}; }
  Result<void> on_steps(std::span<const StepSpan>) override { return {}; }
  Result<void> on_problems(std::span<const TimelineProblem>) override { return {}; }
};

// What every sink refuses: a batch that is too long, a row that names what has
// not arrived, a negative duration, an end that int64 cannot hold, an unknown
// enum value. `place` stands in the errors, code STV0707.
class BatchCheck {
 public:
  explicit BatchCheck(Place place = {}) : place_(std::move(place)) {}

  Result<void> sources(std::span<const SourceInfo> batch);
  Result<void> ranks(std::span<const RankInfo> batch) const;
  Result<void> names(std::span<const std::string_view> batch);
  Result<void> tracks(std::span<const Track> batch);
  Result<void> commands(std::span<const TimelineCommand> batch);
  Result<void> slices(std::span<const Slice> batch);
  Result<void> flows(std::span<const SliceFlow> batch) const;
  Result<void> kernels(std::span<const KernelDetail> batch) const;
  Result<void> copies(std::span<const CopyDetail> batch) const;
  Result<void> calls(std::span<const ApiDetail> batch) const;
  Result<void> args(std::span<const ArgsDetail> batch) const;
  Result<void> collectives(std::span<const CollectiveDetail> batch) const;
  Result<void> costs(std::span<const CostPart> batch) const;
  Result<void> counters(std::span<const CounterSample> batch) const;
  Result<void> steps(std::span<const StepSpan> batch) const;
  Result<void> problems(std::span<const TimelineProblem> batch) const;

  std::size_t slice_count() const { return slices_; }

 private:
  Result<void> length(std::size_t rows) const;
  Result<void> slice_known(SliceId id, std::string_view what) const;
  Result<void> name_known(StringId id, std::string_view what) const;
  template <class Row>
  Result<void> detail(std::span<const Row> batch, std::string_view what) const;

  Place place_;
  std::size_t sources_ = 0;
  std::size_t names_ = 0;
  std::size_t tracks_ = 0;
  std::size_t commands_ = 0;
  std::size_t slices_ = 0;
};

}  // namespace stave
