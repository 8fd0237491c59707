#include "simulator/simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/simulator/random_schedule.h"

namespace stave {
namespace {

Prediction predict(const std::string& text, const Machine& machine, Mode mode = Mode::Eager,
                   const SimulateOptions& options = {}) {
  Result<Plan> plan = plan_of(text, mode);
  if (!plan) {
    ADD_FAILURE() << to_text(plan.problems().front(), text);
    return {};
  }
  Result<Prediction> p = simulate(*plan, machine, options);
  if (!p) {
    ADD_FAILURE() << to_text(p.problems().front(), text);
    return {};
  }
  return *std::move(p);
}

constexpr const char* one_rank = "stave 1\nmesh x = 1\n";

// A command that says itself how long it takes, on a CTA of its own.
std::string timed(std::int64_t ps) {
  return fmt::format("custom_call %a -> %a (target = \"t\", cost = {{time = {}, ctas = 1, tiles = 1}})\n", ps);
}

// chain = sum
TEST(Simulate, AChainTakesTheSum) {
  const Prediction p =
      predict(std::string(one_rank) + "func @f(%a: inout f32[4]) {\n" + timed(1000) + timed(2000) + timed(3000) + "}\n",
              plain_machine(1));
  EXPECT_EQ(p.summary.makespan.count(), 6000);
  EXPECT_EQ(p.summary.instances_count, 3);
}

// fork = max
TEST(Simulate, AForkTakesTheLongest) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Prediction p =
        predict(std::string(one_rank) + "func @f(%a: inout f32[4]) {\n  %t = async_start (stream = computation 0) {\n" +
                    timed(7000) + "  }\n" + timed(2000) + "  async_done %t\n" + timed(500) + "}\n",
                plain_machine(1), mode);
    EXPECT_EQ(p.summary.makespan.count(), 7500) << name_of(mode);
  }
}

TEST(Simulate, CopiesSayTheirBytesAndDirection) {
  const Prediction p = predict(
      "stave 1\nmesh x = 2\nfunc @f(%h: in host f32[256], %d: inout f32[256]) {\n  copy %h -> %d\n"
      "  copy %d[:128] -> %d[128:]\n  memzero -> %d[:64]\n}\n",
      plain_machine(2));
  const std::span<const CopyDetail> copies = p.timeline.copies();
  ASSERT_EQ(copies.size(), 6u);
  for (const CopyDetail& copy : copies) {
    const std::uint32_t rank = p.timeline.track(p.timeline.slice(copy.slice).track).rank;
    if (copy.memset) {
      EXPECT_EQ(copy.bytes, 256);
      EXPECT_EQ(copy.memset_value, 0u);
      continue;
    }
    const bool from_host = copy.copy_kind == 1u;
    EXPECT_EQ(copy.bytes, from_host ? 1024 : 512);
    EXPECT_EQ(copy.copy_kind, from_host ? 1u : 8u);
    EXPECT_EQ(copy.destination_device, rank);
    EXPECT_EQ(copy.source_device, from_host ? std::nullopt : std::optional(rank));
  }
}

// captured_serial loses the overlap: openxla/xla#48900.
TEST(Simulate, CapturedSerialRunsOneAfterTheOther) {
  const Prediction p =
      predict(std::string(one_rank) + "func @f(%a: inout f32[4]) {\n  %t = async_start (stream = computation 0) {\n" +
                  timed(7000) + "  }\n" + timed(2000) + "  async_done %t\n" + timed(500) + "}\n",
              plain_machine(1), Mode::CapturedSerial);
  EXPECT_EQ(p.summary.makespan.count(), 9500);
}

// Ring all-reduce, n ranks, S bytes: 2(n-1)/n S over B, and its latencies.
TEST(Simulate, RingAllReduceIsTheClosedForm) {
  for (const int n : {2, 4, 8}) {
    Machine machine = plain_machine(n);
    for (Collective& c : machine.collectives) {
      c.base_latency_ps.value = 5000;
      c.step_latency_ps.value = 700;
    }
    const Prediction p =
        predict(fmt::format("stave 1\nmesh x = {}\nfunc @f(%s: in f32[1048576], %d: out f32[1048576]) {{\n"
                            "  all_reduce %s -> %d (axis = x, reduction = sum)\n}}\n",
                            n),
                machine);
    const double expected = 5000 + 700 * 2 * (n - 1) + 1e12 * 2 * (n - 1) / n * 4194304 / 100e9;
    EXPECT_NEAR(static_cast<double>(p.summary.makespan.count()), expected, 3);
    EXPECT_EQ(p.summary.simulated_ranks, 1u);
    EXPECT_EQ(p.summary.rank_end.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(device_slices(p.timeline, "all_reduce", static_cast<std::uint32_t>(n - 1)).size(), 1u);
  }
}

// Two permutes in one direction share the link: both take twice as long; alpha-beta never shares.
TEST(Simulate, TwoPermutesShareALink) {
  const std::string text = R"(stave 1
mesh x = 2
func @f(%s: in u8[1000000], %d: out u8[1000000], %e: out u8[1000000]) {
  %t = async_start (stream = communication 0) {
    collective_permute %s -> %d (axis = x, shift = 1, communicator = 1)
  }
  %u = async_start (stream = communication 1) {
    collective_permute %s -> %e (axis = x, shift = 1, communicator = 2)
  }
  async_done %t
  async_done %u
}
)";
  const Prediction shared = predict(text, plain_machine(2));
  EXPECT_NEAR(static_cast<double>(shared.summary.makespan.count()), 20e6, 5);
  SimulateOptions alone;
  alone.network_model = "alpha-beta";
  const Prediction p = predict(text, plain_machine(2), Mode::Eager, alone);
  EXPECT_NEAR(static_cast<double>(p.summary.makespan.count()), 10e6, 5);
}

// Who waits for SMs has an edge from the kernel whose CTAs it takes over, and one that finds room has none.
TEST(Simulate, AWaitForSmsNamesWhoHeldThem) {
  const auto text = [](int ctas) {
    const std::string kernel = fmt::format(
        "kernel %a -> %b (source = @s, entry = \"k\", grid = [{}, 1, 1], block = [1024, 1, 1], shared_memory = 200000, "
        "cost = {{time = 1000}})\n",
        ctas);
    return std::string(one_rank) + "source @s = ptx \"k\"\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n" +
           "  %t = async_start (stream = computation 0) {\n" + kernel + "  }\n" + kernel + "  async_done %t\n}\n";
  };
  const auto rooms = [](const Prediction& p) {
    std::vector<SliceFlow> found;
    for (const SliceFlow& flow : p.timeline.flows())
      if (flow.kind == FlowKind::Room) found.push_back(flow);
    return found;
  };
  const Prediction waits = predict(text(10), plain_machine(1));
  EXPECT_EQ(waits.summary.makespan.count(), 2000);
  const std::vector<SliceFlow> found = rooms(waits);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(waits.timeline.slice(found[0].from).end(), waits.timeline.slice(found[0].to).start);
  EXPECT_EQ(waits.timeline.slice(found[0].to).start.count(), 1000);
  EXPECT_TRUE(rooms(predict(text(5), plain_machine(1))).empty());
}

// Where each pair of devices has a link of its own, two neighbours are not on one link, equal ranks or not.
TEST(Simulate, LinksToTwoPeersAreTwo) {
  const std::string text = R"(stave 1
mesh x = 2, y = 2
func @f(%s: in u8[1000000], %d: out u8[1000000], %e: out u8[1000000]) {
  %t = async_start (stream = communication 0) {
    collective_permute %s -> %d (axis = x, shift = 1, communicator = 1)
  }
  %u = async_start (stream = communication 1) {
    collective_permute %s -> %e (axis = y, shift = 1, communicator = 2)
  }
  async_done %t
  async_done %u
}
)";
  Machine machine = plain_machine(4);
  EXPECT_NEAR(static_cast<double>(predict(text, machine).summary.makespan.count()), 20e6, 5);
  machine.links[0].scope = "peer";
  EXPECT_NEAR(static_cast<double>(predict(text, machine).summary.makespan.count()), 10e6, 5);
}

TEST(Simulate, LoopsRunAsOftenAsTheyAreSaidTo) {
  const auto text = [](int trips) {
    return std::string(one_rank) +
           "func @f(%a: inout f32[4], %more: inout bool[]) {\n  while %more (cost = {trips = " + std::to_string(trips) +
           "}) condition {\n    map %more -> %more (f = |x| x, cost = {time = 10})\n  } body {\n" + timed(1000) +
           "  }\n}\n";
  };
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    EXPECT_EQ(predict(text(5), plain_machine(1), mode).summary.makespan.count(), 5 * 1000 + 6 * 10) << name_of(mode);
    EXPECT_EQ(predict(text(0), plain_machine(1), mode).summary.makespan.count(), 10) << name_of(mode);
  }
}

TEST(Simulate, ABranchIsTakenAsSaid) {
  const auto text = [](int taken) {
    return std::string(one_rank) +
           "func @f(%a: inout f32[4], %p: in bool[]) {\n  cond %p (cost = {taken = " + std::to_string(taken) +
           "}) then {\n" + timed(1000) + "  } else {\n" + timed(50) + "  }\n}\n";
  };
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    EXPECT_EQ(predict(text(0), plain_machine(1), mode).summary.makespan.count(), 1000);
    EXPECT_EQ(predict(text(1), plain_machine(1), mode).summary.makespan.count(), 50);
  }
}

TEST(Simulate, AMissingOutcomeIsALocatedError) {
  Result<Plan> plan = plan_of(std::string(one_rank) + "func @f(%a: inout f32[4], %p: in bool[]) {\n  cond %p then {\n" +
                              timed(1) + "  }\n}\n");
  ASSERT_TRUE(plan);
  const Result<Prediction> p = simulate(*plan, plain_machine(1));
  ASSERT_FALSE(p);
  EXPECT_EQ(p.problems().front().code, "STV0851");
  EXPECT_EQ(p.problems().front().place.line, 4u);
  SimulateOptions options;
  options.outcomes.push_back({"f/cond#1", 0});
  EXPECT_TRUE(simulate(*plan, plain_machine(1), options));
}

// Rank 0 sends before it receives, rank 1 too: each waits for the other's receive.
TEST(Simulate, FindsTheWaitForCycleOfADeadlock) {
  const std::string text = R"(stave 1
mesh x = 2
func @a(%s: in f32[4], %d: out f32[4]) {
  all_reduce %s -> %d (axis = x, reduction = sum, communicator = 0)
  all_reduce %s -> %d (axis = x, reduction = sum, communicator = 2)
}
func @b(%s: in f32[4], %d: out f32[4]) {
  all_reduce %s -> %d (axis = x, reduction = sum, communicator = 2)
  all_reduce %s -> %d (axis = x, reduction = sum, communicator = 0)
}
entry @a on [0]
entry @b on [1]
)";
  const Prediction p = predict(text, plain_machine(2));
  ASSERT_TRUE(p.summary.deadlock);
  const auto& cycle = p.summary.deadlock->cycle;
  ASSERT_EQ(cycle.size(), 2u);
  EXPECT_EQ(cycle[0].rank, 0u);
  EXPECT_EQ(cycle[0].command, "a/all_reduce#1");
  EXPECT_EQ(cycle[0].waits_for, "waits for rank 1 to arrive");
  EXPECT_EQ(cycle[1].rank, 1u);
  EXPECT_EQ(cycle[1].command, "b/all_reduce#1");
}

// Launches cost 10 ns: the device is idle between two short kernels. Under CUPTI they cost more.
TEST(Simulate, TheHostIsTheLimitOfShortKernels) {
  Machine machine = plain_machine(1);
  machine.host.launch_ps.value = 10'000;
  machine.host.launch_observed_ps.value = 14'000;
  const std::string text = std::string(one_rank) + "func @f(%a: inout f32[4]) {\n" + timed(100) + timed(100) + "}\n";
  EXPECT_EQ(predict(text, machine).summary.makespan.count(), 20'100);
  SimulateOptions observed;
  observed.observer_cupti = true;
  EXPECT_EQ(predict(text, machine, Mode::Eager, observed).summary.makespan.count(), 28'100);
}

// A chain of empty kernels has the period that was measured for it, eager and in a graph.
TEST(Simulate, ChainsOfEmptyKernelsHaveTheirMeasuredPeriod) {
  Machine machine = plain_machine(1);
  machine.device.kernel_minimum_ps.value = 700;
  machine.device.kernel_gap_ps.value = 1455;
  machine.graph.node_gap_ps.value = 800;
  std::string text = std::string(one_rank) + "func @f(%a: inout f32[4]) {\n";
  for (int i = 0; i < 11; ++i) text += timed(700);
  text += "}\n";
  EXPECT_EQ(predict(text, machine).summary.makespan.count(), 10 * 1455 + 700);
  EXPECT_EQ(predict(text, machine, Mode::Captured).summary.makespan.count(), 10 * 800 + 700);
}

RC_GTEST_PROP(Simulate, TheSameInputGivesTheSameTimeline, ()) {
  const std::string text = random_schedule(2);
  const Prediction a = predict(text, busy_machine(2));
  const Prediction b = predict(text, busy_machine(2));
  RC_ASSERT(a.timeline == b.timeline);
  RC_ASSERT(a.summary.makespan == b.summary.makespan);
}

// Folding is not a model: the timeline is the same as with every rank simulated.
RC_GTEST_PROP(Simulate, FoldedIsUnfolded, ()) {
  const int ranks = *rc::gen::inRange(1, 6);
  const std::string text = random_schedule(ranks);
  SimulateOptions unfolded;
  unfolded.fold = false;
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Prediction a = predict(text, busy_machine(ranks), mode);
    const Prediction b = predict(text, busy_machine(ranks), mode, unfolded);
    RC_ASSERT(a.summary.simulated_ranks == 1u);
    RC_ASSERT(b.summary.simulated_ranks == static_cast<std::uint32_t>(ranks));
    RC_ASSERT(timeline_text(a.timeline) == timeline_text(b.timeline));
    RC_ASSERT(a.summary.instances_count == b.summary.instances_count);
  }
}

// One stream runs one thing at a time; nothing starts before its host call or
// its event is over; no run is shorter than its longest command or longer than
// all of them, their gaps and their calls in a row.
RC_GTEST_PROP(Simulate, StreamsAreOrderedAndFlowsHold, ()) {
  const std::string text = random_schedule(2);
  const Prediction p = predict(text, busy_machine(2), *rc::gen::arbitrary<bool>() ? Mode::Eager : Mode::Captured);
  RC_ASSERT(!p.summary.deadlock);
  std::map<std::uint32_t, Time> until;
  for (const Slice& s : p.timeline.slices()) {
    if (p.timeline.track(s.track).kind != TrackKind::Stream) continue;
    RC_ASSERT(s.duration.count() >= 0);
    const auto at = until.find(s.track.value);
    if (at != until.end()) RC_ASSERT(s.start >= at->second);
    until[s.track.value] = s.end();
    RC_ASSERT(s.end() <= Time{p.summary.makespan});
  }
  for (const SliceFlow& flow : p.timeline.flows()) {
    const Slice& from = p.timeline.slice(flow.from);
    const Slice& to = p.timeline.slice(flow.to);
    RC_ASSERT(flow.certainty == Certainty::Predicted);
    if (flow.kind == FlowKind::Collective)
      RC_ASSERT(to.end() >= from.start);
    else if (flow.kind == FlowKind::Room)  // whose last CTAs may leave later
      RC_ASSERT(to.start > from.start && to.track != from.track);
    else
      RC_ASSERT(to.start >= from.end());
  }
}

// Twice the bytes on a machine without latencies take twice the time.
RC_GTEST_PROP(Simulate, TimeScalesWithSizeWhereNothingIsFixed, ()) {
  const int factor = *rc::gen::inRange(2, 5);
  const auto text = [](int elements) {
    return fmt::format(R"(stave 1
mesh x = 2
func @f(%a: inout f32[{0}], %b: inout f32[{0}]) {{
  %t = async_start (stream = communication 0) {{
    collective_permute %a -> %b (axis = x, shift = 1)
  }}
  async_done %t
  all_reduce %a -> %a (axis = x, reduction = sum)
}}
)",
                       elements);
  };
  const int base = 1000 * *rc::gen::inRange(1, 100);
  const double one = static_cast<double>(predict(text(base), plain_machine(2)).summary.makespan.count());
  const double many = static_cast<double>(predict(text(base * factor), plain_machine(2)).summary.makespan.count());
  RC_ASSERT(std::abs(many - factor * one) <= 4.0 * factor);
}

TEST(Simulate, JitterMovesHostsAndIsSeeded) {
  const std::string text = std::string(one_rank) + "func @f(%a: inout f32[4]) {\n" + timed(100) + timed(100) + "}\n";
  Machine machine = plain_machine(1);
  machine.host.launch_ps.value = 1'000'000;
  SimulateOptions options;
  options.jitter_seed = 1;
  const auto a = predict(text, machine, Mode::Eager, options).summary.makespan;
  const auto b = predict(text, machine, Mode::Eager, options).summary.makespan;
  options.jitter_seed = 2;
  const auto c = predict(text, machine, Mode::Eager, options).summary.makespan;
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_GE(a.count(), 2'000'100);
  EXPECT_LE(a.count(), 2'200'100);
}

TEST(Simulate, StepsRunOneAfterTheOther) {
  SimulateOptions options;
  options.steps = 3;
  const Prediction p = predict(std::string(one_rank) + "func @f(%a: inout f32[4]) {\n" + timed(1000) + "}\n",
                               plain_machine(1), Mode::Eager, options);
  EXPECT_EQ(p.summary.makespan.count(), 3000);
  ASSERT_EQ(p.timeline.steps().size(), 3u);
  EXPECT_EQ(p.timeline.steps()[2].start.count(), 2000);
  EXPECT_EQ(device_slices(p.timeline, "custom_call")[2].step.value, 2u);
}

TEST(Simulate, SaysWhatItDoesNotKnow) {
  Result<Plan> plan = plan_of(std::string(one_rank) + "func @f(%a: inout f32[4]) {\n" + timed(1) + "}\n");
  ASSERT_TRUE(plan);
  SimulateOptions options;
  options.network_model = "guess";
  EXPECT_EQ(simulate(*plan, plain_machine(1), options).problems().front().code, "STV0852");
  Result<Plan> wide = plan_of("stave 1\nmesh x = 4\nfunc @f(%a: inout f32[4]) {\n" + timed(1) + "}\n");
  ASSERT_TRUE(wide);
  EXPECT_EQ(simulate(*wide, plain_machine(2)).problems().front().code, "STV0854");
}

}  // namespace
}  // namespace stave
