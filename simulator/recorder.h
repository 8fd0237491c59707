// Writes a prediction's rows to a sink, in batches. A folded rank's rows are
// repeated for all ranks that it stands for.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/lower/plan.h"
#include "core/timeline/sink.h"
#include "simulator/fold.h"

namespace stave::simulator {

class Recorder {
 public:
  Recorder(const Plan& plan, const Folding& folding, TimelineSink& sink, bool all_ranks, bool counters);

  // Names, tracks, commands and ranks; before any other row.
  void begin(std::string_view gpu);

  // Tracks of a rank by position: streams, then host lanes, then ranges, then counters.
  std::uint32_t stream_track(std::uint32_t stream) const { return stream; }
  std::uint32_t host_track(std::uint32_t colour, std::uint32_t lane) const { return streams_[colour] + lane; }
  std::uint32_t range_track(std::uint32_t colour) const { return streams_[colour] + hosts_[colour]; }

  struct Row {
    std::uint32_t colour = 0;
    std::uint32_t track = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    StringId name;
    std::uint32_t command = Id<Command>::none;
    std::uint32_t step = 0;
    std::uint32_t occurrence = 0;
    Family family = Family::Other;
    std::uint8_t flags = 0;
  };
  // The id of the first of the rows that this makes; the others follow it.
  std::uint32_t add(const Row& row);
  // Between the rows of equal ranks, or from the first of one colour to all of another.
  void flow(std::uint32_t from_colour, std::uint32_t from, std::uint32_t to_colour, std::uint32_t to, FlowKind kind);
  void cost(std::uint32_t colour, std::uint32_t slice, StringId part, std::int64_t duration, StringId model,
            StringId source);
  void collective(std::uint32_t colour, CollectiveDetail detail);
  // Device memory that the detail names is the slice's rank's own.
  void copy(std::uint32_t colour, CopyDetail detail);
  // From now on, until the next call; times ascend for each counter.
  enum class Counter : std::uint8_t { SmsHeld, Memory, LinkOut };
  void counter(std::uint32_t colour, Counter counter, std::int64_t time, double value);
  void step(std::uint32_t colour, std::uint32_t step, std::int64_t start, std::int64_t end);

  StringId name(std::string_view text);
  // "gemm", "all_reduce": of the command's op.
  StringId op_name(std::uint32_t rank_class, std::uint32_t command) const { return op_names_[rank_class][command]; }

  Result<void> finish(std::span<const TimelineProblem> problems);

 private:
  std::span<const Rank> ranks_of(std::uint32_t colour) const {
    const auto& all = folding_.ranks[colour];
    return {all.data(), all_ranks_ ? all.size() : 1};
  }
  void must(Result<void> result);
  void flush();
  void settle_counter(std::uint32_t colour, std::size_t counter);

  const Plan& plan_;
  const Folding& folding_;
  TimelineSink& sink_;
  bool all_ranks_, counters_;
  Result<void> state_;
  Strings names_;
  std::vector<std::uint32_t> first_track_;      // by rank
  std::vector<std::uint32_t> streams_, hosts_;  // by colour
  std::vector<std::uint32_t> first_command_;    // by class
  std::vector<std::vector<StringId>> op_names_;
  std::uint32_t next_slice_ = 1;
  std::vector<Slice> slices_;
  std::vector<SliceFlow> flows_;
  std::vector<CostPart> costs_;
  std::vector<CollectiveDetail> collectives_;
  std::vector<CopyDetail> copies_;
  std::vector<StepSpan> steps_;
  // The value of an instant is what is set last in it.
  struct Gauge {
    std::int64_t time = 0;
    double value = 0, written = -1;
  };
  std::vector<std::array<Gauge, 3>> gauges_;  // by colour
  std::vector<CounterSample> samples_;
};

}  // namespace stave::simulator
