// A run as the simulator predicts it, written for other tools and imported again.
#include <map>
#include <set>
#include <tuple>

#include "tests/profiles/export/stored.h"

namespace stave {
namespace {

constexpr std::int64_t ranks = 2;

// Two steps on two ranks, with times that are no whole nanoseconds: on each a
// call, a gemm, a copy behind it on another stream, and an all-reduce behind that.
Timeline predicted_run() {
  Timeline out;
  std::int64_t ps = 0;
  const auto slice = [&](TrackId track, std::int64_t start, std::int64_t duration, std::string_view name, Family family,
                         std::size_t step) {
    return out.add(Slice{.start = Time{start},
                         .duration = Picoseconds{duration},
                         .track = track,
                         .name = out.intern(name),
                         .command = TimelineCommandId{0},
                         .step = StepNumber{step},
                         .family = family});
  };
  out.add(TimelineCommand{.key = "layer/0", .op = "gemm", .family = Family::Gemm});
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    out.add(RankInfo{.rank = rank, .rank_from = "schedule", .device = rank, .gpu = "H200"});
    const auto stream = [&](std::string_view name, std::int64_t number) {
      return out.add(Track{.rank = rank, .name = std::string(name), .device = rank, .stream = number});
    };
    const TrackId main = stream("main", 0), moves = stream("computation 0", 1), rings = stream("communication 1", 2);
    const TrackId host = out.add(Track{.rank = rank, .kind = TrackKind::Host, .name = "host", .thread = 0});
    const TrackId memory =
        out.add(Track{.rank = rank, .kind = TrackKind::Counter, .name = "memory", .device = rank, .unit = "bytes"});
    for (std::size_t step = 0; step < 2; ++step) {
      ps = static_cast<std::int64_t>(step) * 100'000'000 + rank * 1'234;
      const SliceId call = slice(host, ps, 4'500'250, "gemm", Family::HostApi, step);
      const SliceId gemm = slice(main, ps + 5'000'400, 20'000'900, "gemm", Family::Gemm, step);
      const SliceId copy = slice(moves, ps + 25'001'300, 7'000'001, "Memcpy HtoD", Family::Memory, step);
      const SliceId ring =
          slice(rings, ps + 32'001'301, 40'000'000 - rank * 1'234, "all_reduce", Family::Collective, step);
      out.add(CollectiveDetail{.slice = ring,
                               .communicator = out.intern("mesh"),
                               .sequence = 4,
                               .op = out.intern("all_reduce"),
                               .bytes = 1 << 22,
                               .ranks = ranks});
      out.add(KernelDetail{.slice = gemm, .grid = LaunchDims{132, 1, 1}, .block = LaunchDims{256, 1, 1}});
      out.add(CopyDetail{.slice = copy, .bytes = 1 << 20, .copy_kind = 1});
      out.add(SliceFlow{call, gemm, FlowKind::Launch, Certainty::Predicted});
      out.add(SliceFlow{gemm, copy, FlowKind::Event, Certainty::Predicted});
      out.add(SliceFlow{copy, ring, FlowKind::Event, Certainty::Predicted});
      out.add(CounterSample{memory, Time{ps + 5'000'400}, 1024.0 * static_cast<double>(step + 1) + rank});
      out.add(StepSpan{
          .step = static_cast<std::uint32_t>(step), .rank = rank, .start = Time{ps}, .end = Time{ps + 72'001'301}});
    }
  }
  return out;
}

// A slice by what must survive: rank, stream (-1: no device's), name, start and end in ns.
using Where = std::tuple<std::uint32_t, std::int64_t, std::string, std::int64_t, std::int64_t>;
std::map<SliceId, Where> places(const Timeline& timeline) {
  std::map<SliceId, Where> out;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    const Track& track = timeline.track(slice.track);
    out[SliceId{row + 1}] = {track.rank, track.kind == TrackKind::Stream ? track.stream.value_or(-2) : -1,
                             std::string(timeline.text(slice.name)), floor_ns(slice.start), floor_ns(slice.end())};
  }
  return out;
}
using Places = std::multiset<std::pair<Where, std::int64_t>>;
// With the step of each; -1: none.
Places slices(const Timeline& timeline, bool steps) {
  Places out;
  for (const auto& [id, where] : places(timeline)) {
    const StepNumber step = timeline.slice(id).step;
    out.emplace(where, steps && step ? std::int64_t{step.value} : -1);
  }
  return out;
}
using Edges = std::multiset<std::tuple<FlowKind, Where, Where>>;
Edges edges(const Timeline& timeline, FlowKind kind) {
  Edges out;
  const std::map<SliceId, Where> at = places(timeline);
  for (const SliceFlow& flow : timeline.flows())
    if (flow.kind == kind) out.emplace(kind, at.at(flow.from), at.at(flow.to));
  return out;
}
using Samples = std::multiset<std::tuple<std::uint32_t, std::string, std::int64_t, double>>;
Samples samples(const Timeline& timeline) {
  Samples out;
  for (const CounterSample& sample : timeline.counters()) {
    const Track& track = timeline.track(sample.track);
    out.emplace(track.rank, track.name + " in " + track.unit, floor_ns(sample.time), sample.value);
  }
  return out;
}
using Steps = std::set<std::tuple<std::uint32_t, std::uint32_t, std::string, StepPhase, std::int64_t, std::int64_t>>;
Steps steps(const Timeline& timeline) {
  Steps out;
  for (const StepSpan& span : timeline.steps())
    out.emplace(span.rank, span.step, span.label, span.phase, floor_ns(span.start), floor_ns(span.end));
  return out;
}
using Collectives = std::set<std::tuple<Where, std::string, std::int64_t, std::string, std::int64_t, std::uint32_t>>;
Collectives collectives(const Timeline& timeline) {
  Collectives out;
  const std::map<SliceId, Where> at = places(timeline);
  for (const CollectiveDetail& detail : timeline.collectives())
    out.emplace(at.at(detail.slice), timeline.text(detail.communicator), detail.sequence, timeline.text(detail.op),
                detail.bytes.value_or(-1), detail.ranks);
  return out;
}

// What a trace of two ranks holds: a device that is behind its host, so that kernels of a step run in the time of
// the next; hosts' operators with a library's name; collectives that end 90 us apart on the two ranks, which says
// nothing about clocks that were already brought together.
Timeline measured_run(bool with_steps = true) {
  Timeline out;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    out.add(RankInfo{.rank = rank, .rank_from = "distributedInfo", .device = rank});
    const TrackId stream = out.add(Track{.rank = rank, .name = "stream 7", .device = rank, .stream = 7});
    const TrackId host = out.add(Track{.rank = rank, .kind = TrackKind::Host, .name = "python", .thread = 40});
    const TrackId marks = out.add(Track{.rank = rank, .kind = TrackKind::Range, .name = "python ranges", .thread = 40});
    const auto slice = [&](TrackId track, std::int64_t us, std::int64_t lasts, std::string_view name, Family family,
                           std::size_t step) {
      return out.add(Slice{.start = Time{us * 1'000'000},
                           .duration = Picoseconds{lasts * 1'000'000},
                           .track = track,
                           .name = out.intern(name),
                           .step = StepNumber{step},
                           .family = family});
    };
    for (std::size_t step = 10; step < 13; ++step) {
      const auto begin = static_cast<std::int64_t>(step - 10) * 1000;
      const std::string label = "ProfilerStep#" + std::to_string(step);
      slice(marks, begin, 900, label, Family::Mark, step);
      if (with_steps)
        out.add(StepSpan{.step = static_cast<std::uint32_t>(step),
                         .rank = rank,
                         .phase = step == 10 ? StepPhase::Warmup : StepPhase::Timed,
                         .label = label,
                         .start = Time{begin * 1'000'000},
                         .end = Time{(begin + 900) * 1'000'000}});
      slice(host, begin + 10, 50, "nccl:all_reduce", Family::Host, step);
      for (std::int64_t n = 0; n < 2; ++n) {
        const SliceId ring = slice(stream, begin + 700 + 200 * n + 90 * rank, 150, "ncclDevKernel_AllReduce_Sum",
                                   Family::Collective, step);
        out.add(KernelDetail{.slice = ring});
        out.add(CollectiveDetail{.slice = ring,
                                 .communicator = out.intern("unnamed"),
                                 .sequence = n,
                                 .op = out.intern("all_reduce"),
                                 .bytes = 4096,
                                 .ranks = 2,
                                 .matched_by = MatchedBy::Order});
      }
    }
  }
  return out;
}

class PerfettoRoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(PerfettoRoundTrip, OfAPrediction) {
  const Timeline before = predicted_run();
  Stored stored(before);
  const ImportedTimeline back = stored.imported_back(GetParam());
  ASSERT_EQ(back.code(), "");
  const Timeline& after = back.timeline;
  EXPECT_EQ(slices(after, true), slices(before, true));
  EXPECT_EQ(samples(after), samples(before));
  EXPECT_EQ(steps(after), steps(before));
  EXPECT_EQ(collectives(after), collectives(before));
  EXPECT_EQ(edges(after, FlowKind::Event), edges(before, FlowKind::Event));
  // Render stages have no place for what launched them.
  const bool stages = std::string_view(GetParam()).find(".gpu.") != std::string_view::npos;
  EXPECT_EQ(edges(after, FlowKind::Launch), stages ? Edges() : edges(before, FlowKind::Launch));
  const std::map<std::string, std::int64_t> launches{{"edges that are no wait of a stream", 2 * ranks}};
  EXPECT_EQ(stored.report.left_out, stages ? launches : decltype(launches)());
  EXPECT_EQ(after.kernels().size(), 2u * 2 * ranks);
  EXPECT_EQ(after.kernels()[0].grid, (LaunchDims{132, 1, 1}));
  EXPECT_EQ(back.report.copies, 2 * ranks);
  EXPECT_FALSE(back.report.data_lost);
}
TEST_P(PerfettoRoundTrip, OfATraceOfSeveralRanks) {
  const Timeline before = measured_run();
  Stored stored(before);
  const ImportedTimeline back = stored.imported_back(GetParam());
  ASSERT_EQ(back.code(), "");
  EXPECT_EQ(slices(back.timeline, true), slices(before, true));
  EXPECT_EQ(steps(back.timeline), steps(before));
  EXPECT_EQ(collectives(back.timeline), collectives(before));
  for (const RankInfo& rank : back.timeline.ranks()) EXPECT_EQ(rank.clock_offset, Picoseconds{0});
  for (const CollectiveDetail& detail : back.timeline.collectives()) {
    EXPECT_EQ(detail.matched_by, MatchedBy::Order);
    const std::uint32_t rank = back.timeline.track(back.timeline.slice(detail.slice).track).rank;
    EXPECT_EQ(detail.arrival_wait, Picoseconds{rank == 0 ? 90'000'000 : 0});
  }
}

// As files have it that others wrote: a range says when a step is, not where its kernels lie.
TEST_P(PerfettoRoundTrip, StepsOfRangesAreTheirTimes) {
  Stored stored(measured_run(false));
  Timeline named = measured_run();
  const ImportedTimeline back = stored.imported_back(GetParam());
  ASSERT_EQ(back.timeline.steps().size(), 3u * ranks);
  for (std::size_t i = 0; i < named.steps().size(); ++i) {
    StepSpan expected = named.steps()[i];
    expected.phase = StepPhase::Timed;
    EXPECT_EQ(back.timeline.steps()[i], expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, PerfettoRoundTrip, ::testing::Values("out.pftrace", "out.gpu.pftrace"),
                         [](const auto& info) { return info.index == 0 ? "events" : "stages"; });

// One rank: a file of Chrome's is one.
TEST(RoundTrip, OfAPredictionThroughChromeAndNsight) {
  const Timeline before = predicted_run();
  const auto of_first = [](Places all) {
    std::erase_if(all, [](const auto& one) { return std::get<0>(one.first) != 0; });
    return all;
  };
  for (const char* name : {"out.json", "out.sqlite"}) {
    Stored stored(before);
    stored.exported(name, {.ranks = {0}});
    const ImportedTimeline back = import_files({stored / name});
    ASSERT_EQ(back.code(), "") << name;
    EXPECT_EQ(slices(back.timeline, false), of_first(slices(before, false))) << name;
    EXPECT_EQ(edges(back.timeline, FlowKind::Launch).size(), 2u) << name;
    EXPECT_EQ(stored.report.left_out["steps without a range"], 2) << name;
    const std::string_view descriptions = "descriptions of collectives (communicator, number, bytes)";
    const bool chrome = std::string_view(name).ends_with(".json");
    EXPECT_EQ(stored.report.left_out[std::string(descriptions)], chrome ? 0 : 2) << name;
    EXPECT_EQ(back.timeline.collectives().size(), chrome ? 2u : 0u) << name;
    EXPECT_FALSE(back.report.data_lost) << name;
  }
}

}  // namespace
}  // namespace stave
