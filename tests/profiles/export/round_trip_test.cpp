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
std::set<std::pair<std::uint32_t, std::uint32_t>> steps(const Timeline& timeline) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const StepSpan& span : timeline.steps()) out.emplace(span.rank, span.step);
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
  EXPECT_EQ(edges(after, FlowKind::Event), edges(before, FlowKind::Event));
  // Render stages have no place for what launched them.
  const bool stages = std::string_view(GetParam()).find(".gpu.") != std::string_view::npos;
  EXPECT_EQ(edges(after, FlowKind::Launch), stages ? Edges() : edges(before, FlowKind::Launch));
  EXPECT_EQ(after.kernels().size(), 2u * 2 * ranks);
  EXPECT_EQ(after.kernels()[0].grid, (LaunchDims{132, 1, 1}));
  EXPECT_EQ(back.report.copies, 2 * ranks);
  EXPECT_FALSE(back.report.data_lost);
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
    EXPECT_FALSE(back.report.data_lost) << name;
  }
}

}  // namespace
}  // namespace stave
