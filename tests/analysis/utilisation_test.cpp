#include "analysis/utilisation.h"

#include <gtest/gtest.h>

#include "tests/analysis/hand_made.h"

namespace stave {
namespace {

Picoseconds sum_of(const RankUse& use) {
  return use.busy + use.idle_host + use.idle_event + use.idle_arrival + use.idle_other;
}

// One rank with two streams and its host; `use` is over [0, 100).
class OneRank : public ::testing::Test {
 protected:
  RankUse use(Interval window = span(0, 100)) {
    const std::vector<RankUse> all = utilisation(made_.timeline, window);
    EXPECT_EQ(all.size(), 1u);
    EXPECT_EQ(sum_of(all[0]), window.length());
    EXPECT_EQ(all[0].overlap + all[0].exposed_communication, all[0].communication);
    return all[0];
  }

  HandMade made_;
  TrackId main_ = made_.stream(0, "main");
  TrackId side_ = made_.stream(0, "side");
  TrackId host_ = made_.host(0);
};

TEST_F(OneRank, OverlapIsTheTimeOfBothExposedThatOfCommunicationAlone) {
  made_.slice(main_, 0, 40, Family::Gemm);
  made_.slice(main_, 60, 100, Family::Compute);
  made_.slice(side_, 30, 80, Family::Collective);
  const RankUse got = use();
  EXPECT_EQ(got.compute, 80_ps);
  EXPECT_EQ(got.communication, 50_ps);
  EXPECT_EQ(got.overlap, 30_ps);  // [30, 40) and [60, 80)
  EXPECT_EQ(got.exposed_communication, 20_ps);
  EXPECT_EQ(got.busy, 100_ps);
  EXPECT_EQ(got.end, 100_ps);
}

TEST_F(OneRank, ACopyIsBusyButNeitherComputeNorCommunicationAndHidesNothing) {
  made_.slice(main_, 0, 50, Family::Memory);
  made_.slice(side_, 20, 60, Family::Collective);
  const RankUse got = use();
  EXPECT_EQ(got.copy, 50_ps);
  EXPECT_EQ(got.compute, 0_ps);
  EXPECT_EQ(got.overlap, 0_ps);
  EXPECT_EQ(got.exposed_communication, 40_ps);
  EXPECT_EQ(got.busy, 60_ps);
  EXPECT_EQ(got.idle_other, 40_ps);
}

TEST_F(OneRank, AKernelOfACommunicationLibraryIsCommunication) {
  made_.slice(main_, 0, 10, Family::Compute, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  made_.slice(main_, 10, 30, Family::Compute, "rccl_main_kernel");
  made_.slice(main_, 30, 60, Family::Compute, "softmax");
  const RankUse got = use();
  EXPECT_EQ(got.communication, 30_ps);
  EXPECT_EQ(got.compute, 30_ps);
}

TEST_F(OneRank, MarksAndIdleSlicesAreNotWork) {
  made_.slice(main_, 0, 10, Family::Mark);
  made_.slice(main_, 10, 30, Family::Idle);
  EXPECT_EQ(use().busy, 0_ps);
}

TEST_F(OneRank, ALateLaunchIsIdleHost) {
  const SliceId launch = made_.slice(host_, 10, 25, Family::HostApi);
  const SliceId gemm = made_.slice(main_, 25, 100, Family::Gemm);
  made_.flow(launch, gemm, FlowKind::Launch);
  const RankUse got = use();
  EXPECT_EQ(got.idle_host, 25_ps);
  EXPECT_EQ(got.busy, 75_ps);
}

TEST_F(OneRank, ALaunchThatWasEarlyDoesNotExplainAGap) {
  const SliceId launch = made_.slice(host_, 0, 5, Family::HostApi);
  made_.slice(main_, 0, 40, Family::Gemm);
  const SliceId second = made_.slice(main_, 50, 100, Family::Gemm);
  made_.flow(launch, second, FlowKind::Launch);
  const RankUse got = use();
  EXPECT_EQ(got.idle_host, 0_ps);
  EXPECT_EQ(got.idle_other, 10_ps);
}

TEST_F(OneRank, WorkOfAnotherStreamIsIdleEvent) {
  const SliceId copy = made_.slice(side_, 0, 50, Family::Memory);
  const SliceId gemm = made_.slice(main_, 60, 100, Family::Gemm);
  made_.flow(copy, gemm, FlowKind::Event);
  const RankUse got = use();
  EXPECT_EQ(got.idle_event, 10_ps);
  EXPECT_EQ(got.idle_other, 0_ps);
}

TEST_F(OneRank, TheLastOfSeveralCausesCounts) {
  const SliceId launch = made_.slice(host_, 0, 30, Family::HostApi);
  const SliceId copy = made_.slice(side_, 0, 20, Family::Memory);
  const SliceId gemm = made_.slice(main_, 30, 100, Family::Gemm);
  made_.flow(copy, gemm, FlowKind::Event);
  made_.flow(launch, gemm, FlowKind::Launch);
  const RankUse got = use();
  EXPECT_EQ(got.idle_host, 10_ps);
  EXPECT_EQ(got.idle_event, 0_ps);
}

TEST_F(OneRank, TheFirstNodeOfAGraphWaitsForItsLaunch) {
  const SliceId launch = made_.slice(host_, 0, 5, Family::HostApi);
  const SliceId first = made_.slice(main_, 15, 40, Family::Gemm);
  const SliceId next = made_.slice(side_, 50, 100, Family::Gemm);
  made_.flow(launch, first, FlowKind::Graph);
  made_.flow(first, next, FlowKind::Graph);
  const RankUse got = use();
  EXPECT_EQ(got.idle_host, 15_ps);
  EXPECT_EQ(got.idle_event, 10_ps);
}

TEST_F(OneRank, TheGapBehindTheSameStreamIsIdleOther) {
  const SliceId first = made_.slice(main_, 0, 40, Family::Gemm);
  const SliceId next = made_.slice(main_, 45, 100, Family::Gemm);
  made_.flow(first, next, FlowKind::Stream);
  EXPECT_EQ(use().idle_other, 5_ps);
}

TEST_F(OneRank, TheTimeBehindTheLastSliceIsIdleOther) {
  made_.slice(main_, 0, 70, Family::Gemm);
  EXPECT_EQ(use().idle_other, 30_ps);
}

TEST_F(OneRank, ACollectiveWaitsForSmsThenForItsPeersThenMoves) {
  const SliceId permute = made_.slice(side_, 0, 100, Family::Collective);
  made_.part(permute, "residence_wait", 20);
  made_.part(permute, "arrival_wait", 30);
  made_.part(permute, "transfer", 50);
  made_.slice(main_, 0, 10, Family::Gemm);
  const RankUse got = use();
  EXPECT_EQ(got.residence_wait, 20_ps);
  EXPECT_EQ(got.arrival_wait, 30_ps);
  EXPECT_EQ(got.transfer, 50_ps);
  EXPECT_EQ(got.busy, 60_ps);
  EXPECT_EQ(got.idle_arrival, 40_ps);  // [10, 50): waiting, and nothing else runs
  EXPECT_EQ(got.communication, 100_ps);
  EXPECT_EQ(got.exposed_communication, 90_ps);
}

TEST_F(OneRank, AMeasuredCollectiveHasItsWaitInItsOwnRow) {
  const SliceId reduce = made_.slice(side_, 0, 100, Family::Collective);
  made_.timeline.add(CollectiveDetail{.slice = reduce,
                                      .communicator = made_.timeline.intern("world"),
                                      .op = made_.timeline.intern("all_reduce"),
                                      .dtype = {},
                                      .ranks = 2,
                                      .arrival_wait = 35_ps,
                                      .algorithm = {},
                                      .protocol = {}});
  const RankUse got = use();
  EXPECT_EQ(got.arrival_wait, 35_ps);
  EXPECT_EQ(got.idle_arrival, 35_ps);
  EXPECT_EQ(got.transfer, 65_ps);
}

TEST_F(OneRank, AWindowCutsSlices) {
  made_.slice(main_, 0, 60, Family::Gemm);
  made_.slice(side_, 40, 100, Family::Collective);
  const RankUse got = use(span(50, 80));
  EXPECT_EQ(got.compute, 10_ps);
  EXPECT_EQ(got.communication, 30_ps);
  EXPECT_EQ(got.overlap, 10_ps);
  EXPECT_EQ(got.busy, 30_ps);
}

TEST_F(OneRank, StreamsCountTheirCommands) {
  made_.slice(main_, 0, 10, Family::Gemm);
  made_.slice(main_, 5, 20, Family::Gemm);
  made_.slice(host_, 0, 50, Family::HostApi);
  const RankUse got = use();
  ASSERT_EQ(got.streams.size(), 2u);
  EXPECT_EQ(got.streams[0].stream, "main");
  EXPECT_EQ(got.streams[0].busy, 20_ps);
  EXPECT_EQ(got.streams[0].commands, 2);
  EXPECT_EQ(got.streams[1].commands, 0);
}

TEST(Utilisation, RanksDoNotSeeEachOther) {
  HandMade made;
  const TrackId second = made.stream(1, "main"), first = made.stream(0, "main");
  made.slice(second, 0, 100, Family::Gemm);
  made.slice(first, 0, 40, Family::Collective);
  const std::vector<RankUse> all = utilisation(made.timeline, span(0, 100));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].rank, 0u);
  EXPECT_EQ(all[0].exposed_communication, 40_ps);
  EXPECT_EQ(all[0].idle_other, 60_ps);
  EXPECT_EQ(all[1].busy, 100_ps);
}

TEST(Utilisation, WholeIsToTheLastSliceOnADevice) {
  HandMade made;
  made.slice(made.host(0), 0, 500, Family::HostApi);
  made.slice(made.stream(0, "main"), 10, 70, Family::Gemm);
  EXPECT_EQ(whole(made.timeline), span(0, 70));
  EXPECT_EQ(whole(Timeline{}), span(0, 0));
}

TEST(Utilisation, TheWorstRankEndsLastThenExposesMostThenIsTheLowest) {
  const auto rank = [](std::uint32_t number, Picoseconds end, Picoseconds exposed) {
    RankUse use;
    use.rank = number, use.end = end, use.exposed_communication = exposed;
    return use;
  };
  const auto worst = [](std::vector<RankUse> ranks) { return worst_rank(ranks)->rank; };
  EXPECT_EQ(worst({rank(0, 5_ps, 9_ps), rank(1, 7_ps, 0_ps)}), 1u);
  EXPECT_EQ(worst({rank(0, 7_ps, 1_ps), rank(1, 7_ps, 2_ps)}), 1u);
  EXPECT_EQ(worst({rank(0, 7_ps, 2_ps), rank(1, 7_ps, 2_ps)}), 0u);
  EXPECT_EQ(worst_rank({}), nullptr);
}

TEST(Utilisation, APercentageOfNothingIsUnknown) {
  EXPECT_FALSE(percent(0_ps, 0_ps).has_value());
  EXPECT_EQ(percent(1_ps, 4_ps), 25.0);
}

}  // namespace
}  // namespace stave
