// How two kernels share a GPU, as measured: 2x H200, driver 580.159.04, CUDA
// 13.0, NCCL 2.28.3, starts and ends from CUPTI, medians of 7. Each case is one
// product and one collective or copy, issued in a known order; the second is held
// back until it really started, because the recorder's own set-up delayed it.
// The order of what happens must be right, and every end within a tenth.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/simulator/schedule.h"

namespace stave {
namespace {

constexpr double us = 1e6;

struct Products {
  int n, m, k;  // row-major: what the column-major call names m stands second
};
constexpr Products cube{8192, 8192, 8192};
constexpr Products waves16{6144, 11264, 4096};
constexpr Products waves4{3072, 5632, 8192};
constexpr Products waves2{3072, 2816, 8192};
constexpr Products waves1{1536, 2816, 8192};

struct Case {
  Products product = cube;
  int products = 1;  // queued on rank 0
  int sm_count = 0;
  std::string other = "all_reduce %s -> %d (axis = x, reduction = sum, name = \"other\")";
  std::int64_t other_elements = 134217728;  // bf16: 256 MiB
  bool other_first = false;
  bool both_ranks = false;
  double second_starts = 0;  // us
};

struct Seen {
  double product_start, product_end, other_start, other_end;  // us; of the first product
  double last_product_end;
};

Seen predict(const Case& c) {
  const std::string gemms = fmt::format(
      "  %p = async_start (stream = computation 0) {{\n    repeat (index = i, from = 0, to = {}) {{\n"
      "      gemm %a, %b -> %c (sm_count = {}, name = \"product\")\n    }}\n  }}\n",
      c.products, c.sm_count);
  const std::string other = fmt::format("  %t = async_start (stream = communication 0) {{\n    {}\n  }}\n", c.other);
  const auto function = [&](const char* name, bool product) {
    std::string body = fmt::format(
        "func @{}(%a: in bf16[{}, {}], %b: in bf16[{}, {}], %c: out bf16[{}, {}], %s: in bf16[{}], %d: out bf16[{}]) "
        "{{\n",
        name, c.product.n, c.product.k, c.product.k, c.product.m, c.product.n, c.product.m, c.other_elements,
        c.other_elements);
    const std::string mine = product ? gemms : "";
    body += c.other_first ? other + mine : mine + other;
    body += product ? "  async_done %p\n  async_done %t\n}\n" : "  async_done %t\n}\n";
    return body;
  };
  std::string text = "stave 1\nmesh x = 2\n" + function("first", true) + function("second", c.both_ranks);
  text += "entry @first on [0]\nentry @second on [1]\n";
  Result<Plan> plan = plan_of(text);
  if (!plan) {
    ADD_FAILURE() << to_text(plan.problems().front(), text);
    return {};
  }
  Result<Machine> machine = load_machine(STAVE_SOURCE_DIR "/machines/h200-x2.toml");
  if (!machine) {
    ADD_FAILURE() << to_text(machine.problems().front());
    return {};
  }
  SimulateOptions options;
  options.observer_cupti = true;
  const Time at = picoseconds(c.second_starts * 1e-6);
  const std::string product_path = "product[i=0]";
  for (Rank r = 0; r < 2; ++r) {
    const std::string function_name = r == 0 ? "first" : "second";
    if (!c.other_first)
      options.host_delays.push_back({r, function_name + "/other", at});
    else if (r == 0 || c.both_ranks)
      options.host_delays.push_back({r, function_name + "/" + product_path, at});
  }
  Result<Prediction> p = simulate(*plan, *machine, options);
  if (!p) {
    ADD_FAILURE() << to_text(p.problems().front(), text);
    return {};
  }
  EXPECT_FALSE(p->summary.deadlock) << p->summary.deadlock->to_text();
  Seen seen{};
  for (const Slice& slice : p->timeline.slices()) {
    const Track& track = p->timeline.track(slice.track);
    if (track.kind != TrackKind::Stream || track.rank != 0) continue;
    const bool product = p->timeline.text(slice.name) == "gemm";
    (product ? seen.last_product_end : seen.other_end) = static_cast<double>(slice.end().count()) / us;
    if (product && slice.command && p->timeline.command(slice.command).key == "first/" + product_path) {
      seen.product_start = static_cast<double>(slice.start.count()) / us;
      seen.product_end = static_cast<double>(slice.end().count()) / us;
    }
    if (!product) seen.other_start = static_cast<double>(slice.start.count()) / us;
  }
  // The recorder counts from the first kernel's start.
  const double zero = c.other_first ? seen.other_start : seen.product_start;
  seen.product_start -= zero;
  seen.product_end -= zero;
  seen.last_product_end -= zero;
  seen.other_start -= zero;
  seen.other_end -= zero;
  return seen;
}

void expect_near(const char* what, double predicted, double measured, double part = 0.1) {
  EXPECT_NEAR(predicted, measured, part * measured) << what << ": predicted " << predicted << ", measured " << measured;
}

void expect_ends(const Case& c, double product, double other) {
  const Seen seen = predict(c);
  expect_near("product", seen.product_end, product);
  expect_near("other", seen.other_end, other);
}

TEST(Mechanisms, ProductFirstTheCollectiveStartsInItsDrain) {
  const Seen seen = predict({.second_starts = 40});
  expect_near("product end", seen.product_end, 1398.6);
  expect_near("collective start", seen.other_start, 1292.2, 0.03);
  expect_near("collective end", seen.other_end, 2187.1);
  EXPECT_LT(seen.other_start, seen.product_end);
}

TEST(Mechanisms, SmallCollectiveStartsInTheDrainToo) {
  const Seen seen = predict({.other_elements = 8388608, .second_starts = 40});
  expect_near("product end", seen.product_end, 1395.1);
  expect_near("collective end", seen.other_end, 1385.0);
}

TEST(Mechanisms, CollectiveFirstTheProductGetsTheRestAndEndsLate) {
  const Seen seen = predict({.other_first = true, .second_starts = 421.1});
  expect_near("collective end", seen.other_end, 970.3);
  expect_near("product end", seen.product_end, 1916.7);
  EXPECT_LT(seen.product_start, seen.other_end);
}

TEST(Mechanisms, CollectiveFirstWithShorterProducts) {
  expect_ends({.product = waves16, .other_first = true, .second_starts = 415.0}, 1228.3, 965.6);
  expect_ends({.product = waves4, .other_first = true, .second_starts = 429.8}, 923.7, 918.3);
  expect_ends({.product = waves2, .other_first = true, .second_starts = 400.4}, 726.8, 897.0);
  expect_ends({.product = waves1, .other_first = true, .second_starts = 378.0}, 544.5, 890.8);
}

TEST(Mechanisms, ProductFirstWithWholeWavesHasNoDrain) {
  const Seen seen = predict({.product = waves16, .second_starts = 40});
  expect_near("product end", seen.product_end, 686.7);
  expect_near("collective start", seen.other_start, 677.9, 0.03);
  expect_near("collective end", seen.other_end, 1623.3);
}

TEST(Mechanisms, APartOfTheChannelsStartsBesideAProductOnFewerSms) {
  const Seen seen = predict({.sm_count = 116, .second_starts = 449.4});
  EXPECT_LT(seen.other_start, 460);
  expect_near("product end", seen.product_end, 1466.8);
  expect_near("collective end", seen.other_end, 2214.0);
  // Less than a whole collective after the product: the resident channels had moved data.
  EXPECT_LT(seen.other_end - seen.product_end, 870);
  expect_ends({.product = waves16, .sm_count = 116, .second_starts = 400.9}, 775.0, 1563.8);
}

TEST(Mechanisms, BothRunSlowerWhereThereIsRoomForBoth) {
  const Seen seen = predict({.sm_count = 100, .second_starts = 399.0});
  EXPECT_LT(seen.other_start, 410);
  expect_near("product end", seen.product_end, 1721.2);
  expect_near("collective end", seen.other_end, 1811.3);
  EXPECT_GT(seen.other_end - seen.other_start, 1200);
  expect_ends({.product = waves16, .sm_count = 100, .second_starts = 394.2}, 871.7, 1481.9);
}

TEST(Mechanisms, AWaitingCollectiveGoesBeforeTheStreamsNextProduct) {
  const Seen seen = predict({.products = 4, .second_starts = 100});
  expect_near("first product end", seen.product_end, 1398.6);
  expect_near("collective start", seen.other_start, 1305.9, 0.03);
  expect_near("collective end", seen.other_end, 2336.1);
  EXPECT_LT(seen.other_start, seen.product_end);
}

TEST(Mechanisms, ACopyEngineTakesNoSm) {
  const Case c{
      .other = "collective_permute %s -> %d (axis = x, pairs = [0 -> 1], algorithm = copy_engine, name = \"other\")",
      .other_elements = 33554432,
      .second_starts = 383.1};
  const Seen seen = predict(c);
  expect_near("product end", seen.product_end, 1391.9);
  expect_near("copy end", seen.other_end, 555.0);
}

TEST(Mechanisms, BothRanksBusy) {
  Seen seen = predict({.both_ranks = true, .second_starts = 40});
  expect_near("product end", seen.product_end, 1396.4);
  expect_near("collective start", seen.other_start, 1289.9, 0.03);
  expect_near("collective end", seen.other_end, 2217.5);
  seen = predict({.other_first = true, .both_ranks = true, .second_starts = 406.5});
  expect_near("product end", seen.product_end, 1912.3);
  expect_near("collective end", seen.other_end, 977.5);
}

// 64 MiB each: [0, ~257] and [~384, 642], the second held back until 384.6.
TEST(Mechanisms, OneCommunicatorRunsInIssueOrderAcrossStreams) {
  const std::string text = R"(stave 1
mesh x = 2
func @main(%a: in bf16[33554432], %b: out bf16[33554432], %c: out bf16[33554432]) {
  %t = async_start (stream = communication 0) {
    all_reduce %a -> %b (axis = x, reduction = sum)
  }
  %u = async_start (stream = communication 1) {
    all_reduce %a -> %c (axis = x, reduction = sum)
  }
  async_done %t
  async_done %u
}
)";
  Result<Plan> plan = plan_of(text);
  ASSERT_TRUE(plan) << to_text(plan.problems().front(), text);
  Result<Machine> machine = load_machine(STAVE_SOURCE_DIR "/machines/h200-x2.toml");
  ASSERT_TRUE(machine) << to_text(machine.problems().front());
  Result<Prediction> p = simulate(*plan, *machine);
  ASSERT_TRUE(p) << to_text(p.problems().front());
  const auto slices = device_slices(p->timeline, "all_reduce");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_GE(slices[1].start, slices[0].end());
  expect_near("each", static_cast<double>(slices[1].duration.count()) / us, 642.3 - 384.6);
}

}  // namespace
}  // namespace stave
