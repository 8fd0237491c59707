#include <limits>

#include "core/timeline/sink.h"

namespace stave {
namespace {

constexpr std::string_view code = "STV0707";
// Ids are 32 bits, and the last value means none.
constexpr std::size_t max_rows = std::numeric_limits<std::uint32_t>::max() - 1;

bool known(TrackId id, std::size_t count) { return id.value < count; }
bool known_or_none(TrackId id, std::size_t count) { return !id || id.value < count; }
bool known_or_none(TimelineCommandId id, std::size_t count) { return !id || id.value < count; }

}  // namespace

Result<void> BatchCheck::length(std::size_t rows) const {
  if (rows > max_batch_rows)
    return error_at(place_, code, "a batch has at most {} rows, this one has {}", max_batch_rows, rows);
  return {};
}

Result<void> BatchCheck::slice_known(SliceId id, std::string_view what) const {
  if (!id || id.value > slices_)
    return error_at(place_, code, "{} names slice {}, but only {} slices arrived before it", what, id.value, slices_);
  return {};
}

Result<void> BatchCheck::name_known(StringId id, std::string_view what) const {
  if (id && id.value >= names_)
    return error_at(place_, code, "{} has name {}, but only {} names arrived before it", what, id.value, names_);
  return {};
}

template <class Row>
Result<void> BatchCheck::detail(std::span<const Row> batch, std::string_view what) const {
  TRY_VOID(length(batch.size()));
  for (const Row& row : batch) TRY_VOID(slice_known(row.slice, what));
  return {};
}

Result<void> BatchCheck::sources(std::span<const SourceInfo> batch) {
  TRY_VOID(length(batch.size()));
  sources_ += batch.size();
  return {};
}

Result<void> BatchCheck::ranks(std::span<const RankInfo> batch) const {
  TRY_VOID(length(batch.size()));
  for (const RankInfo& rank : batch)
    if (rank.source && *rank.source >= sources_)
      return error_at(place_, code, "rank {} names source {}, but only {} sources arrived before it", rank.rank,
                      *rank.source, sources_);
  return {};
}

Result<void> BatchCheck::names(std::span<const std::string_view> batch) {
  TRY_VOID(length(batch.size()));
  if (names_ + batch.size() > max_rows) return error_at(place_, code, "a timeline has at most {} names", max_rows);
  names_ += batch.size();
  return {};
}

Result<void> BatchCheck::tracks(std::span<const Track> batch) {
  TRY_VOID(length(batch.size()));
  for (const Track& track : batch) {
    if (!known_or_none(track.parent, tracks_))
      return error_at(place_, code, "track \"{}\" has parent {}, but only {} tracks arrived before it", track.name,
                      track.parent.value, tracks_);
    ++tracks_;
  }
  return {};
}

Result<void> BatchCheck::commands(std::span<const TimelineCommand> batch) {
  TRY_VOID(length(batch.size()));
  for (const TimelineCommand& command : batch) {
    if (!known_or_none(command.parent, commands_))
      return error_at(place_, code, "command {} has parent {}, but only {} commands arrived before it", command.key,
                      command.parent.value, commands_);
    ++commands_;
  }
  return {};
}

Result<void> BatchCheck::slices(std::span<const Slice> batch) {
  TRY_VOID(length(batch.size()));
  if (slices_ + batch.size() > max_rows) return error_at(place_, code, "a timeline has at most {} slices", max_rows);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Slice& slice = batch[i];
    const std::size_t id = slices_ + i + 1;
    if (!known(slice.track, tracks_))
      return error_at(place_, code, "slice {} is on track {}, but only {} tracks arrived before it", id,
                      slice.track.value, tracks_);
    if (slice.name.value >= names_)
      return error_at(place_, code, "slice {} has name {}, but only {} names arrived before it", id, slice.name.value,
                      names_);
    if (!known_or_none(slice.command, commands_))
      return error_at(place_, code, "slice {} is of command {}, but only {} commands arrived before it", id,
                      slice.command.value, commands_);
    if (slice.duration.count() < 0)
      return error_at(place_, code, "slice {} has a duration of {} ps; durations are not negative", id,
                      slice.duration.count());
    if (slice.start.count() > std::numeric_limits<std::int64_t>::max() - slice.duration.count())
      return error_at(place_, code, "slice {} starts at {} ps and lasts {} ps; its end does not fit 64 bits", id,
                      slice.start.count(), slice.duration.count());
    if (static_cast<std::uint8_t>(slice.family) >= family_count)
      return error_at(place_, code, "slice {} has family {}, there are {}", id, static_cast<int>(slice.family),
                      family_count);
  }
  slices_ += batch.size();
  return {};
}

Result<void> BatchCheck::flows(std::span<const SliceFlow> batch) const {
  TRY_VOID(length(batch.size()));
  for (const SliceFlow& flow : batch) {
    TRY_VOID(slice_known(flow.from, "a flow"));
    TRY_VOID(slice_known(flow.to, "a flow"));
    if (static_cast<std::uint8_t>(flow.kind) >= flow_kind_count ||
        static_cast<std::uint8_t>(flow.certainty) >= certainty_count)
      return error_at(place_, code, "a flow has kind {} of {} and certainty {} of {}", static_cast<int>(flow.kind),
                      flow_kind_count, static_cast<int>(flow.certainty), certainty_count);
  }
  return {};
}

Result<void> BatchCheck::kernels(std::span<const KernelDetail> batch) const {
  for (const KernelDetail& row : batch) TRY_VOID(name_known(row.demangled_name, "a kernel"));
  return detail(batch, "a kernel");
}

Result<void> BatchCheck::copies(std::span<const CopyDetail> batch) const { return detail(batch, "a copy"); }

Result<void> BatchCheck::calls(std::span<const ApiDetail> batch) const { return detail(batch, "an API call"); }

Result<void> BatchCheck::args(std::span<const ArgsDetail> batch) const { return detail(batch, "args"); }

Result<void> BatchCheck::collectives(std::span<const CollectiveDetail> batch) const {
  for (const CollectiveDetail& row : batch) {
    if (!row.communicator || !row.op)
      return error_at(place_, code, "the collective of slice {} needs a communicator and an op", row.slice.value);
    for (const StringId name : {row.communicator, row.op, row.dtype, row.algorithm, row.protocol})
      TRY_VOID(name_known(name, "a collective"));
  }
  return detail(batch, "a collective");
}

Result<void> BatchCheck::costs(std::span<const CostPart> batch) const {
  for (const CostPart& row : batch) {
    if (!row.part || !row.model || !row.source)
      return error_at(place_, code, "a cost of slice {} needs a part, a model and a source", row.slice.value);
    for (const StringId name : {row.part, row.model, row.source}) TRY_VOID(name_known(name, "a cost"));
  }
  return detail(batch, "a cost");
}

Result<void> BatchCheck::counters(std::span<const CounterSample> batch) const {
  TRY_VOID(length(batch.size()));
  for (const CounterSample& sample : batch) {
    if (!known(sample.track, tracks_))
      return error_at(place_, code, "a sample is on track {}, but only {} tracks arrived before it", sample.track.value,
                      tracks_);
    if (sample.value != sample.value)
      return error_at(place_, code, "a sample of track {} at {} ps is not a number", sample.track.value,
                      sample.time.count());
  }
  return {};
}

Result<void> BatchCheck::steps(std::span<const StepSpan> batch) const {
  TRY_VOID(length(batch.size()));
  for (const StepSpan& step : batch)
    if (step.end < step.start)
      return error_at(place_, code, "step {} of rank {} ends at {} ps, before its start at {} ps", step.step, step.rank,
                      step.end.count(), step.start.count());
  return {};
}

Result<void> BatchCheck::problems(std::span<const TimelineProblem> batch) const { return length(batch.size()); }

}  // namespace stave
