#include "simulator/engine.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "simulator/messages.h"
#include "tests/simulator/h200.h"

namespace stave::simulator {
namespace {

constexpr std::int64_t us = 1'000'000;

// An engine with its queue, and the ends of ops by a name that the test gives.
struct Bench {
  explicit Bench(std::uint32_t devices) {
    for (std::uint32_t i = 0; i < devices; ++i) engine.add_device({h200, 3});
  }

  void at(std::int64_t time, std::function<void()> what) {
    events.push({time, Engine::first_free_event, static_cast<std::uint32_t>(later.size())});
    later.push_back(std::move(what));
  }
  void run() {
    while (!events.empty()) {
      now = events.next_time();
      while (!events.empty() && events.next_time() == now) {
        const Event e = events.pop();
        if (e.what == Engine::first_free_event)
          later[e.id]();
        else
          engine.handle(e);
      }
      engine.settle(now);
      for (const OpId op : engine.finished()) {
        start[op] = engine.op(op).started;
        end[op] = now;
      }
      engine.finished().clear();
    }
  }

  EventQueue events;
  Engine engine{*network_model_named("max-min"), events};
  std::int64_t now = 0;
  std::vector<std::function<void()>> later;
  std::map<OpId, std::int64_t> start, end;
};

ActivitySpec persistent(std::int64_t tiles, std::int64_t ctas, std::int64_t tile) {
  ActivitySpec spec;
  spec.kind = GridKind::PersistentDynamic;
  spec.tiles = tiles;
  spec.ctas = spec.slots = ctas;
  spec.work = work_of(tile);
  return spec;
}

ActivitySpec gang(std::int64_t channels, std::int64_t time) {
  ActivitySpec spec;
  spec.kind = GridKind::Gang;
  spec.tiles = spec.ctas = spec.slots = channels;
  spec.work = work_of(time);
  return spec;
}

// The GEMM holds every SM until its tiles run out; the gang starts in its drain.
TEST(Engine, AGangStartsWhenAPersistentKernelDrains) {
  Bench b(1);
  OpId first = none, second = none;
  b.at(0, [&] { first = b.engine.start_kernel(0, {0, 0, 0, 0}, gemm, persistent(1664, 132, 100 * us), {}, 0); });
  b.at(20 * us, [&] {
    const std::uint32_t device = 0;
    const ActivityId a = b.engine.open_gang({&device, 1}, gang(24, 900 * us), {}, b.now);
    second = b.engine.join(0, {1, b.now, 1, 1}, Room::Sms, all_reduce, 24, {&a, 1}, b.now);
  });
  b.run();
  EXPECT_EQ(b.end[first], 1300 * us);
  EXPECT_EQ(b.start[second], 1200 * us);
  EXPECT_EQ(b.end[second], 2100 * us);
}

// The gang first: the GEMM runs on the other 108 SMs, and gets 24 more when it ends.
TEST(Engine, APersistentKernelGrowsWhenAGangEnds) {
  Bench b(1);
  OpId first = none, second = none;
  b.at(0, [&] {
    const std::uint32_t device = 0;
    const ActivityId a = b.engine.open_gang({&device, 1}, gang(24, 1000 * us), {}, b.now);
    first = b.engine.join(0, {1, 0, 1, 1}, Room::Sms, all_reduce, 24, {&a, 1}, b.now);
  });
  b.at(500 * us, [&] {
    second = b.engine.start_kernel(0, {0, b.now, 0, 0}, gemm, persistent(1664, 132, 100 * us), {}, b.now);
  });
  b.run();
  EXPECT_EQ(b.end[first], 1000 * us);
  EXPECT_EQ(b.start[second], 500 * us);
  // 540 tiles by 1000 us; then 1124 tiles on 132: eight rounds and 68 more.
  EXPECT_EQ(b.end[second], 1900 * us);
}

// Two devices: a gang moves only when it is resident on both.
TEST(Engine, AGangWaitsForItsLastMember) {
  Bench b(2);
  OpId here = none, there = none;
  const std::uint32_t devices[] = {0, 1};
  ActivityId a = 0;
  b.at(0, [&] {
    a = b.engine.open_gang(devices, gang(24, 100 * us), {}, 0);
    here = b.engine.join(0, {1, 0, 1, 1}, Room::Sms, all_reduce, 24, {&a, 1}, 0);
  });
  b.at(70 * us, [&] { there = b.engine.join(1, {1, 70 * us, 1, 1}, Room::Sms, all_reduce, 24, {&a, 1}, b.now); });
  b.run();
  EXPECT_EQ(b.start[here], 0);
  EXPECT_EQ(b.start[there], 70 * us);
  EXPECT_EQ(b.end[here], 170 * us);
  EXPECT_EQ(b.end[there], 170 * us);
}

// 16 of 24 channels find room and move; the other 8 start when the kernel leaves.
TEST(Engine, ChannelsMoveOneByOne) {
  Bench b(1);
  OpId collective = none;
  b.at(0, [&] { b.engine.start_kernel(0, {0, 0, 0, 0}, gemm, persistent(116, 116, 500 * us), {}, 0); });
  b.at(10 * us, [&] {
    const std::uint32_t device = 0;
    const ActivityId a = b.engine.open_gang({&device, 1}, gang(24, 1000 * us), {}, b.now);
    collective = b.engine.join(0, {1, b.now, 1, 1}, Room::Sms, all_reduce, 24, {&a, 1}, b.now);
  });
  b.run();
  EXPECT_EQ(b.start[collective], 10 * us);
  EXPECT_EQ(b.end[collective], 1500 * us);
}

// A kernel of one CTA a tile makes room for a higher priority at its next tile boundary.
TEST(Engine, ShortCtasYieldToAHigherPriority) {
  Bench b(1);
  OpId low = none, high = none;
  b.at(0, [&] {
    ActivitySpec spec = persistent(132 * 1000, 132 * 1000, 10 * us);
    spec.kind = GridKind::OnePerTile;
    spec.slots = 132;
    low = b.engine.start_kernel(0, {0, 0, 0, 0}, {2048, 0, 0}, spec, {}, 0);
  });
  b.at(15 * us, [&] {
    high = b.engine.start_kernel(0, {1, b.now, 1, 1}, {2048, 0, 0}, persistent(132, 132, 50 * us), {}, b.now);
  });
  b.run();
  EXPECT_EQ(b.start[high], 20 * us);
  EXPECT_EQ(b.end[high], 70 * us);
  EXPECT_EQ(b.end[low], 10'050 * us);
}

// Two kernels that each want all of the memory take twice as long.
TEST(Engine, KernelsShareTheMemory) {
  Bench b(1);
  const std::uint32_t memory = b.engine.sharing().add_resource(ResourceKind::Memory);
  const Use all[] = {{memory, amount_of(1)}};
  OpId a = none, c = none;
  b.at(0, [&] {
    a = b.engine.start_kernel(0, {0, 0, 0, 0}, {128, 0, 0}, persistent(1, 1, 100 * us), all, 0);
    c = b.engine.start_kernel(0, {0, 0, 1, 1}, {128, 0, 0}, persistent(1, 1, 50 * us), all, 0);
  });
  b.run();
  EXPECT_NEAR(static_cast<double>(b.end[c]), 100.0 * us, 10);
  EXPECT_NEAR(static_cast<double>(b.end[a]), 150.0 * us, 10);
}

// Ring all-reduce as messages: n ranks, 2(n-1) steps of S/n bytes over private
// links. Alpha-beta: 2(n-1)(a + S/(nB)).
TEST(Messages, RingAllReduceIsTheClosedForm) {
  constexpr std::uint32_t n = 16;
  constexpr std::int64_t bytes = 64 << 20;
  constexpr double bandwidth = 450e9;
  const Picoseconds latency{500'000};
  Messages m(*network_model_named("max-min"));
  std::vector<Messages::RouteId> route;
  for (std::uint32_t r = 0; r < n; ++r) {
    const Messages::LinkId link = m.add_link(BytesPerSecond{bandwidth});
    route.push_back(m.add_route({&link, 1}, latency));
  }
  constexpr std::uint32_t steps = 2 * (n - 1);
  for (std::uint32_t r = 0; r < n; ++r) m.send(route[r], Bytes{bytes / n}, r, Time{0});
  // Tag: step * n + sender. Who has received step s sends step s + 1.
  const Time end = m.run([&](std::uint32_t tag, Time now) {
    const std::uint32_t step = tag / n, receiver = (tag % n + 1) % n;
    if (step + 1 < steps) m.send(route[receiver], Bytes{bytes / n}, (step + 1) * n + receiver, now);
  });
  EXPECT_EQ(m.delivered(), std::int64_t{n} * steps);
  const double expected = steps * (500'000 + 1e12 * static_cast<double>(bytes / n) / bandwidth);
  EXPECT_NEAR(static_cast<double>(end.count()), expected, steps);
}

// n equal flows on one link end together at nS/B.
TEST(Messages, EqualFlowsOnOneLinkEndTogether) {
  Messages m(*network_model_named("max-min"));
  const Messages::LinkId link = m.add_link(BytesPerSecond{1e12});
  const Messages::RouteId route = m.add_route({&link, 1}, Picoseconds{0});
  for (std::uint32_t i = 0; i < 100; ++i) m.send(route, Bytes{1'000'000}, i, Time{0});
  std::vector<std::int64_t> ends;
  m.run([&](std::uint32_t, Time now) { ends.push_back(now.count()); });
  ASSERT_EQ(ends.size(), 100u);
  for (const std::int64_t end : ends) EXPECT_EQ(end, ends[0]);
  EXPECT_NEAR(static_cast<double>(ends[0]), 100e6, 5);
}

}  // namespace
}  // namespace stave::simulator
