// A timeline survives the pipe, and what is no timeline is refused.
#include "core/timeline/pipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/timeline/timeline.h"

namespace stave {
namespace {

Timeline every_row() {
  Timeline t;
  const StringId name = t.intern("a \"name\"\n"), other = t.intern("");
  t.add(SourceInfo{"f.json", "00ff", -1, "kineto", "3"});
  t.add(RankInfo{1, "schedule", "host", 7, 0, "H200", "uuid", 0, Picoseconds{-5}, Picoseconds{9}, "CUPTI"});
  const TrackId track = t.add(Track{1, TrackKind::Stream, "main", 0, 1, 2, 3, 4, "bytes/s", {}});
  t.add(Track{0, TrackKind::Counter, "c", {}, {}, {}, {}, {}, "", track});
  const TimelineCommandId command = t.add(TimelineCommand{"f/gemm#1", "gemm", Family::Gemm, 3, 4, 5, {}, {}});
  Slice slice;
  slice.start = Time{-1000};
  slice.duration = Picoseconds{INT64_C(1) << 40};
  slice.track = track;
  slice.name = name;
  slice.command = command;
  slice.step = StepNumber{std::size_t{2}};
  slice.occurrence = 9;
  slice.lane = 65535;
  slice.family = Family::Gemm;
  slice.flags = 255;
  const SliceId first = t.add(slice);
  slice.name = other;
  const SliceId second = t.add(slice);
  t.add(SliceFlow{first, second, FlowKind::Graph, Certainty::Inferred});
  t.add(KernelDetail{first, 1, {}, 3, LaunchDims{1, 2, 3}, {}, LaunchDims{4, 5, 6}, 7, {}, 9, name});
  t.add(CopyDetail{second, true, 1, 2, 3, 4, 5, 6, 7, 8, {}});
  t.add(ApiDetail{first, {}, -1});
  t.add(ArgsDetail{second, "{\"a\":1}"});
  t.add(CollectiveDetail{first, name, 3, other, {}, 4, {}, 2, Picoseconds{1}, {}, {}, name, 24, MatchedBy::Order});
  t.add(CostPart{second, name, Picoseconds{3}, {}, Picoseconds{4}, other, name});
  t.add(CounterSample{TrackId{std::size_t{1}}, Time{5}, 0.1});
  t.add(StepSpan{0, 1, StepPhase::Warmup, "s", Time{1}, Time{2}, 3, {}, 5});
  t.add(TimelineProblem{Severity::Error, "STV0001", 3, "m", "f", 1, 2, 3});
  return t;
}

TEST(Pipe, CarriesEveryRow) {
  const Timeline sent = every_row();
  Timeline got;
  PipeSink sink([&](FrameKind kind, std::string_view payload) -> Result<void> {
    TRY(const bool rows, take_rows({static_cast<std::uint32_t>(kind), std::string(payload)}, got));
    EXPECT_TRUE(rows);
    return {};
  });
  ASSERT_TRUE(replay(sent, sink));
  EXPECT_TRUE(got == sent);
}

TEST(Pipe, RefusesABatchOfAnotherLength) {
  std::string payload;
  PipeSink sink([&](FrameKind kind, std::string_view bytes) -> Result<void> {
    if (kind == FrameKind::Slices) payload = bytes;
    return {};
  });
  ASSERT_TRUE(replay(every_row(), sink));
  ASSERT_FALSE(payload.empty());
  for (const std::string& damaged : {payload.substr(0, payload.size() - 1), payload + "x", std::string(8, '\xff')}) {
    Timeline timeline;
    const Result<bool> taken = take_rows({static_cast<std::uint32_t>(FrameKind::Slices), damaged}, timeline);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.problems()[0].code, "STV0944");
  }
}

TEST(Pipe, FramesGoThroughADescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_TRUE(write_frame(ends[1], 40, std::string("\0ab", 3)));
  ASSERT_TRUE(write_frame(ends[1], 41, ""));
  ASSERT_EQ(::write(ends[1], "cut", 3), 3);
  ::close(ends[1]);
  const auto first = read_frame(ends[0]), second = read_frame(ends[0]), third = read_frame(ends[0]);
  ::close(ends[0]);
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_EQ((*first)->payload, std::string("\0ab", 3));
  EXPECT_EQ((*second)->kind, 41u);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.problems()[0].code, "STV0944");
}

}  // namespace
}  // namespace stave
