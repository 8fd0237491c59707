// A timeline in memory: what happened (measured, imported) or would happen
// (predicted). A value: it copies and compares.
#pragma once

#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/strings.h"
#include "core/timeline/sink.h"

namespace stave {

class Timeline final : public TimelineSink {
 public:
  // For those who make a timeline in memory. Ids must be known, as for a sink (asserted).
  StringId intern(std::string_view text);
  TrackId add(Track track);
  TimelineCommandId add(TimelineCommand command);
  SliceId add(const Slice& slice);
  void add(const SliceFlow& flow) { must(on_flows({&flow, 1})); }
  void add(const KernelDetail& row) { must(on_kernels({&row, 1})); }
  void add(const CopyDetail& row) { must(on_copies({&row, 1})); }
  void add(const ApiDetail& row) { must(on_calls({&row, 1})); }
  void add(const ArgsDetail& row) { must(on_args({&row, 1})); }
  void add(const CollectiveDetail& row) { must(on_collectives({&row, 1})); }
  void add(const CostPart& row) { must(on_costs({&row, 1})); }
  void add(const CounterSample& row) { must(on_counters({&row, 1})); }
  void add(const StepSpan& row) { must(on_steps({&row, 1})); }
  void add(const RankInfo& row) { must(on_ranks({&row, 1})); }
  void add(const SourceInfo& row) { must(on_sources({&row, 1})); }
  void add(const TimelineProblem& row) { must(on_problems({&row, 1})); }
  void reserve_slices(std::size_t count) { slices_.reserve(count); }

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

  const Strings& names() const { return names_; }
  // "" for none.
  std::string_view text(StringId id) const { return id ? names_[id] : std::string_view{}; }

  std::span<const Track> tracks() const { return tracks_; }
  std::span<const TimelineCommand> commands() const { return commands_; }
  std::span<const Slice> slices() const { return slices_; }  // slice id = position + 1
  std::span<const SliceFlow> flows() const { return flows_; }
  std::span<const CounterSample> counters() const { return counters_; }
  std::span<const StepSpan> steps() const { return steps_; }
  std::span<const RankInfo> ranks() const { return ranks_; }
  std::span<const SourceInfo> sources() const { return sources_; }
  std::span<const TimelineProblem> problems() const { return problems_; }
  // The side tables are sorted by slice id.
  std::span<const KernelDetail> kernels() const { return kernels_; }
  std::span<const CopyDetail> copies() const { return copies_; }
  std::span<const ApiDetail> calls() const { return calls_; }
  std::span<const ArgsDetail> args() const { return args_; }
  std::span<const CollectiveDetail> collectives() const { return collectives_; }
  std::span<const CostPart> costs() const { return costs_; }

  const Track& track(TrackId id) const { return tracks_[id.value]; }
  const TimelineCommand& command(TimelineCommandId id) const { return commands_[id.value]; }
  const Slice& slice(SliceId id) const { return slices_[id.row()]; }
  // Null where the slice has none.
  const KernelDetail* kernel(SliceId id) const;
  const CopyDetail* copy(SliceId id) const;
  const ApiDetail* call(SliceId id) const;
  const ArgsDetail* args(SliceId id) const;
  const CollectiveDetail* collective(SliceId id) const;
  std::span<const CostPart> costs(SliceId id) const;

  // Equal rows in equal order. Names compare by text, and names that no row
  // uses do not count: a file's runs share one table of names.
  friend bool operator==(const Timeline& a, const Timeline& b);

 private:
  static void must([[maybe_unused]] const Result<void>& result) { assert(result.has_value()); }

  Strings names_;
  std::vector<Track> tracks_;
  std::vector<TimelineCommand> commands_;
  std::vector<Slice> slices_;
  std::vector<SliceFlow> flows_;
  std::vector<CounterSample> counters_;
  std::vector<StepSpan> steps_;
  std::vector<RankInfo> ranks_;
  std::vector<SourceInfo> sources_;
  std::vector<TimelineProblem> problems_;
  std::vector<KernelDetail> kernels_;
  std::vector<CopyDetail> copies_;
  std::vector<ApiDetail> calls_;
  std::vector<ArgsDetail> args_;
  std::vector<CollectiveDetail> collectives_;
  std::vector<CostPart> costs_;
  BatchCheck check_;
};

// The first and the last instant of all slices; none without slices.
struct TimeSpan {
  Time start{};
  Time end{};

  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};
std::optional<TimeSpan> extent_of(const Timeline& timeline);

// Sends all rows, in batches, in an order that a sink accepts. `progress` gets
// the rows; cancelled (STV0950), the sink has the batches until then.
Result<void> replay(const Timeline& timeline, TimelineSink& sink, Progress* progress = nullptr);

// Golden text, integer picoseconds: slices by track, then start, then write
// order, one a line; then a line of totals for each track with slices. `busy`
// is the length of the union of a track's slices.
//   rank 0 compute  [0, 1000)  gemm  main/gemm#1
//   total rank 0 compute: 1 slices, busy 1000 in [0, 1000)
std::string timeline_text(const Timeline& timeline);

}  // namespace stave
