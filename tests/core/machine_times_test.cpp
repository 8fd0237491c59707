#include "core/machine/times.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/files.h"
#include "core/machine/table_csv.h"
#include "tests/core/shipped_machine.h"

namespace stave {
namespace {

double us(Picoseconds t) { return static_cast<double>(t.count()) * 1e-6; }

TEST(GemmTime, RowsComeBackExactly) {
  const Machine& m = h200_x2();
  const auto single = gemm_time(m, "bf16", 8192, 8192, 8192);
  EXPECT_TRUE(single.exact);
  EXPECT_FALSE(single.extrapolated);
  EXPECT_EQ(single.time, 1397200_ns);
  EXPECT_NE(single.source.find("probe 3"), std::string::npos);
  EXPECT_EQ(gemm_time(m, "bf16", 8192, 8192, 8192, 132).time, 1397200_ns);
  EXPECT_EQ(gemm_time(m, "bf16", 8192, 8192, 8192, 1000).time, 1397200_ns);
  EXPECT_EQ(gemm_time(m, "bf16", 8192, 8192, 8192, 100).time, 1654100_ns);
  EXPECT_EQ(gemm_time(m, "f16", 8192, 8192, 8192, 116).time, 1449000_ns);
  EXPECT_EQ(gemm_time(m, "bf16", 2816, 1536, 8192).time, 87_us) << "the transposed row";
  EXPECT_EQ(gemm_time(m, "bf16", 4096, 4096, 4096).time, 166220_ns);
  for (const Table& table : m.tables)
    for (std::size_t i = 0; i < table.gemm.size(); i += 97) {
      const GemmRow& row = table.gemm[i];
      const auto estimate = gemm_time(m, "bf16", row.m, row.n, row.k, row.sm_count);
      EXPECT_TRUE(estimate.exact);
      if (&table == m.tables.data()) {
        EXPECT_EQ(estimate.time.count(), row.time_ps);
      }
    }
}

RC_GTEST_PROP(GemmTime, NeverBelowTheBoundAndAlwaysTheSame, ()) {
  static const std::vector<Machine> machines = {h200_x2(), shipped("h100-x8"), shipped("a100-x8")};
  const Machine& m = machines[*rc::gen::inRange<std::size_t>(0, machines.size())];
  const auto dimension = [] {
    const int bits = *rc::gen::inRange(0, 18);
    return (std::int64_t{1} << bits) + *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bits);
  };
  const std::int64_t rows = dimension(), columns = dimension(), depth = dimension();
  const int limit = *rc::gen::element(0, 1, 16, 100, 132);
  const auto* dtype = *rc::gen::element("bf16", "f16", "f32", "f64", "s8", "f8e4m3");
  const auto estimate = gemm_time(m, dtype, rows, columns, depth, limit);
  RC_ASSERT(estimate.exact ||
            estimate.time >= gemm_bound(table_device(m, dtype), rows, columns, depth, limit, bytes_per_element(dtype)));
  RC_ASSERT(estimate.time > 0_ps);
  RC_ASSERT(!estimate.source.empty());
  RC_ASSERT(gemm_time(m, dtype, rows, columns, depth, limit).time == estimate.time);
}

TEST(GemmTime, MeasuredRowsStayAboveTheBound) {
  const Machine& m = h200_x2();
  for (const Table& table : m.tables)
    for (const GemmRow& row : table.gemm)
      EXPECT_GE(row.time_ps, gemm_bound(table.device, row.m, row.n, row.k, row.sm_count, 2).count())
          << row.m << " " << row.n << " " << row.k;
}

TEST(GemmTime, FollowsAnEditedMachine) {
  Machine m = h200_x2();
  m.device.tensor_bf16_flops_per_s->value *= 2;
  const auto faster = gemm_time(m, "bf16", 8192, 8192, 8192);
  EXPECT_FALSE(faster.exact);
  EXPECT_LT(us(faster.time), 0.6 * 1397.2);
  EXPECT_GT(us(faster.time), 0.4 * 1397.2);
}

TEST(GemmTime, WithoutRowsTheModelStandsInAndSaysSo) {
  Machine m = h200_x2();
  m.tables.clear();
  const auto estimate = gemm_time(m, "bf16", 8192, 8192, 8192);
  EXPECT_TRUE(estimate.extrapolated);
  EXPECT_NE(estimate.source.find("assumed"), std::string::npos);
  EXPECT_NEAR(us(estimate.time), 1397.2, 140);
  EXPECT_TRUE(gemm_time(h200_x2(), "bf16", 1 << 20, 1 << 20, 64).extrapolated);
}

// An all-reduce of 256 MiB beside products that leave it 32 SMs: the measured ends follow from `beside`.
TEST(Beside, GivesTheMeasuredEnds) {
  struct Case {
    std::int64_t m, n, k;
    double start, product_end, collective_end;  // us
  };
  const Machine& machine = h200_x2();
  const Beside& collective = *machine.beside("collective", "gemm");
  const Beside& product = *machine.beside("gemm", "collective");
  const double all_reduce = us(collective_time(machine, "all_reduce", 2, 256_MiB)->time());
  for (const Case& c : {Case{8192, 8192, 8192, 399.0, 1721.2, 1811.3}, Case{6144, 11264, 4096, 394.2, 871.7, 1481.9}}) {
    const double alone = us(gemm_time(machine, "bf16", c.m, c.n, c.k, 100).time);
    const double product_end = c.start + (alone - c.start) / product.speed.value;
    const double left = all_reduce - (product_end - c.start) * collective.speed.value;
    EXPECT_NEAR(product_end, c.product_end, 0.02 * c.product_end);
    EXPECT_NEAR(product_end + left, c.collective_end, 0.02 * c.collective_end);
  }
}

struct Errors {
  std::vector<double> all;
  void add(double estimate, double truth) { all.push_back(std::abs(estimate / truth - 1)); }
  double at(double part) {
    std::sort(all.begin(), all.end());
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  }
};

// The figures of docs/machines.md#gemm.
TEST(GemmTime, HeldOutProductsAreClose) {
  Machine m = h200_x2();
  m.tables.erase(m.tables.begin(), m.tables.begin() + 2);
  const auto text = read_file(std::string(STAVE_SOURCE_DIR) + "/tests/core/machine_data/h200_gemm_bf16_held_out.csv");
  ASSERT_TRUE(text);
  const auto rows = parse_gemm_csv("held_out", *text);
  ASSERT_TRUE(rows);
  Errors errors, model;
  for (const GemmRow& row : *rows) {
    const auto truth = static_cast<double>(row.time_ps);
    errors.add(static_cast<double>(gemm_time(m, "bf16", row.m, row.n, row.k).time.count()), truth);
    model.add(static_cast<double>(gemm_model(m.tables[0].device, row.m, row.n, row.k, 0, 2).count()), truth);
  }
  RecordProperty(
      "held_out",
      fmt::format("{} products: median {:.1f} %, p90 {:.1f} %, worst {:.0f} %; model alone {:.1f} %", rows->size(),
                  100 * errors.at(0.5), 100 * errors.at(0.9), 100 * errors.at(1), 100 * model.at(0.5)));
  EXPECT_LT(errors.at(0.5), 0.04);
  EXPECT_LT(errors.at(0.9), 0.12);
  EXPECT_LT(errors.at(0.5), model.at(0.5));
}

TEST(GemmTime, MeasuredRowsLeftOutOneByOne) {
  Errors errors;
  const Machine& whole = h200_x2();
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t i = 0; i < whole.tables[t].gemm.size(); ++i) {
      const GemmRow row = whole.tables[t].gemm[i];
      Machine m = whole;
      for (Table& table : m.tables)
        std::erase_if(table.gemm, [&](const GemmRow& r) {
          return r.k == row.k && r.sm_count == row.sm_count &&
                 ((r.m == row.m && r.n == row.n) || (r.m == row.n && r.n == row.m));
        });
      const auto estimate = gemm_time(m, "bf16", row.m, row.n, row.k, row.sm_count);
      errors.add(static_cast<double>(estimate.time.count()), static_cast<double>(row.time_ps));
    }
  RecordProperty("left_out", fmt::format("{} rows: median {:.1f} %, p90 {:.1f} %, worst {:.0f} %", errors.all.size(),
                                         100 * errors.at(0.5), 100 * errors.at(0.9), 100 * errors.at(1)));
  EXPECT_LT(errors.at(0.5), 0.08);
  EXPECT_LT(errors.at(0.9), 0.20);
}

CollectiveEstimate collective(const Machine& m, std::string_view op, int ranks, std::int64_t bytes,
                              std::string_view algorithm = "ring") {
  auto estimate = collective_time(m, op, ranks, Bytes{bytes}, algorithm);
  EXPECT_TRUE(estimate);
  return *estimate;
}

TEST(CollectiveTime, RowsComeBackExactly) {
  const Machine& m = h200_x2();
  EXPECT_EQ(collective(m, "all_reduce", 2, 256 << 20).time(), 889760_ns);
  EXPECT_EQ(collective(m, "all_reduce", 2, 8).time(), 5867_ns);
  EXPECT_EQ(collective(m, "all_reduce", 2, 8).transfer, 0_ps);
  EXPECT_EQ(collective(m, "all_gather", 2, 128 << 20).time(), 292200_ns);
  EXPECT_EQ(collective(m, "collective_permute", 2, 64 << 20).time(), 249130_ns);
  EXPECT_EQ(collective(m, "all_reduce", 4, std::int64_t{512} << 20).time(), 2311170_ns);
  EXPECT_EQ(collective(m, "reduce_scatter", 4, 2 << 20).time(), 17830_ns);
  EXPECT_NE(collective(m, "all_reduce", 2, 1 << 20).source.find("probe"), std::string::npos);
  EXPECT_NE(collective(m, "all_reduce", 4, 1 << 20).source.find("aiconfigurator"), std::string::npos);
  EXPECT_FALSE(collective(m, "all_reduce", 2, 3 << 20).extrapolated);
  EXPECT_TRUE(collective(m, "all_reduce", 2, std::int64_t{1} << 33).extrapolated);
  EXPECT_EQ(collective_time(m, "all_reduce", 2, 8_B, "copy_engine").problems()[0].code, "STV0612");
}

TEST(CollectiveTime, BetweenRowsIsAStraightLine) {
  const Machine& m = h200_x2();
  const auto low = collective(m, "all_reduce", 2, 16 << 20).time(),
             high = collective(m, "all_reduce", 2, 64 << 20).time();
  EXPECT_EQ(collective(m, "all_reduce", 2, 40 << 20).time(), (low + high) / 2);
}

TEST(CollectiveTime, OtherRankCountsFollowTheRing) {
  const Machine m = shipped("h200-x8");
  // 8 ranks of reduce_scatter have no rows: 4 ranks, the same bytes on the wire, four steps more.
  const auto eight = collective(m, "reduce_scatter", 8, 64 << 20);
  EXPECT_TRUE(eight.extrapolated);
  const double same_wire = wire_bytes("reduce_scatter", 8, 64 << 20) / wire_bytes("reduce_scatter", 4, 1);
  const auto four = collective(m, "reduce_scatter", 4, static_cast<std::int64_t>(same_wire));
  EXPECT_NEAR(us(eight.time()), us(four.time()) + 4 * 0.97, 0.05);
  EXPECT_EQ(collective(m, "all_reduce", 1, 1 << 20).transfer, 0_ps);
  // Formula only: broadcast has no rows.
  const auto broadcast = collective(m, "broadcast", 8, 1 << 30);
  EXPECT_NEAR(us(broadcast.transfer), (1 << 30) / 316.6e9 * 1e6, 1e-3);
  const auto copies = collective(m, "all_gather", 8, 1 << 30, "copy_engine");
  EXPECT_NEAR(us(copies.transfer), 7.0 / 8 * (1 << 30) / 396.8e9 * 1e6, 1e-3);
}

TEST(CollectiveTime, AFasterLinkShortensTheTransferOnly) {
  Machine m = h200_x2();
  const auto before = collective(m, "all_reduce", 2, 256 << 20);
  m.links[0].bandwidth_bytes_per_s.value *= 2;
  const auto after = collective(m, "all_reduce", 2, 256 << 20);
  EXPECT_EQ(after.latency, before.latency);
  EXPECT_NEAR(us(after.transfer), us(before.transfer) / 2, 1e-3);
}

RC_GTEST_PROP(CollectiveTime, GrowsWithBytes, ()) {
  static const std::vector<Machine> machines = {h200_x2(), shipped("h200-x8"), shipped("h100-x8"), shipped("a100-x8")};
  const Machine& m = machines[*rc::gen::inRange<std::size_t>(0, machines.size())];
  const auto* op =
      *rc::gen::element("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "broadcast");
  const int ranks = *rc::gen::inRange(1, 20);
  const auto size = [] {
    const int bits = *rc::gen::inRange(0, 40);
    return (std::int64_t{1} << bits) + *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bits);
  };
  std::int64_t low = size(), high = size();
  if (low > high) std::swap(low, high);
  const auto small = collective(m, op, ranks, low), large = collective(m, op, ranks, high);
  RC_ASSERT(small.time() <= large.time());
  RC_ASSERT(small.latency == large.latency);
  RC_ASSERT(small.transfer >= 0_ps);
  RC_ASSERT(small.latency > 0_ps);
}

// What of the 8-GPU figures follows from 4 GPUs: the error that docs/machines.md names.
TEST(CollectiveTime, EightRanksFromFourAreClose) {
  Machine m = shipped("h200-x8");
  for (Table& table : m.tables) std::erase_if(table.collective, [](const CollectiveRow& r) { return r.ranks == 8; });
  EXPECT_NEAR(us(collective(m, "all_reduce", 8, 512).time()), 16.0, 0.1 * 16.0);
  EXPECT_NEAR(us(collective(m, "all_reduce", 8, 1 << 20).time()), 26.1, 0.1 * 26.1);
  EXPECT_NEAR(us(collective(m, "all_gather", 8, std::int64_t{512} << 20).time()), 1395, 0.1 * 1395);
}

}  // namespace
}  // namespace stave
