// Tables read ahead on a thread, and rows written on another one.
#include <gtest/gtest.h>

#include "profiles/import/nsys_reader.h"
#include "profiles/import/row_batches.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using Columns = std::vector<std::string_view>;

class NsysReaderTest : public testing::Test {
 protected:
  // 20,000 rows, 20 blocks: more than are read ahead.
  void SetUp() override {
    auto opened = sqlite::Database::open(folder_ / "export.sqlite", sqlite::Access::Create);
    ASSERT_TRUE(opened);
    database_.emplace(std::move(*opened));
    ASSERT_TRUE(database_->execute(R"(
      CREATE TABLE NVTX_EVENTS(start INTEGER, mixed, text);
      WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO NVTX_EVENTS SELECT (i * 7919) % 20011,
          CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN i WHEN 2 THEN i + 0.5 ELSE '' || i END, 'range ' || i FROM n;)"));
    auto tables = NsysTables::read(*database_);
    ASSERT_TRUE(tables);
    tables_ = std::move(*tables);
  }

  NsysReader open(const Columns& columns, bool by_first = false) {
    auto reader = NsysReader::open(*database_, tables_, "nvtx_events", columns, by_first);
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }

  TempFolder folder_;
  std::optional<sqlite::Database> database_;
  NsysTables tables_;
};

TEST_F(NsysReaderTest, GivesEachRowOnceAsSqliteConvertsIt) {
  NsysReader reader = open({"mixed", "missing", "text"});
  std::int64_t row = 0;
  while (true) {
    const auto block = reader.next();
    ASSERT_TRUE(block);
    if (*block == nullptr) break;
    for (std::size_t i = 0; i < (*block)->rows; ++i) {
      const NsysRecord record = reader.row(**block, i);
      ++row;
      ASSERT_EQ(record.is_null(0), row % 4 == 0);
      ASSERT_EQ(record.is_integer(0), row % 4 == 1);
      ASSERT_EQ(record.integer(0), row % 4 == 0 ? 0 : row);
      ASSERT_EQ(record.real(0), row % 4 == 0 ? 0 : static_cast<double>(row) + (row % 4 == 2 ? 0.5 : 0));
      const std::string digits = std::to_string(row);
      ASSERT_EQ(record.written(0), row % 4 == 0 ? "" : row % 4 == 2 ? digits + ".5" : digits);
      ASSERT_TRUE(record.is_null(1));
      ASSERT_EQ(record.maybe_integer(1), std::nullopt);
      ASSERT_EQ(record.text(2), "range " + std::to_string(row));
    }
  }
  EXPECT_EQ(row, 20'000);
}

TEST_F(NsysReaderTest, ReadsInTheOrderOfTheFirstColumn) {
  NsysReader reader = open({"start"}, true);
  std::int64_t last = -1, rows = 0;
  for (auto block = reader.next(); block && *block != nullptr; block = reader.next())
    for (std::size_t i = 0; i < (*block)->rows; ++i, ++rows) {
      const std::int64_t start = reader.row(**block, i).integer(0);
      ASSERT_LE(last, start);
      last = start;
    }
  EXPECT_EQ(rows, 20'000);
}

TEST_F(NsysReaderTest, MayBeLeftEarly) {
  {
    NsysReader reader = open({"start"});
    const auto block = reader.next();
    ASSERT_TRUE(block && *block != nullptr);
  }
  EXPECT_EQ(database_->integer("SELECT count(*) FROM NVTX_EVENTS").value(), 20'000);
  auto none = NsysReader::open(*database_, tables_, "CUPTI_ACTIVITY_KIND_KERNEL", Columns{"start"});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->next().value(), nullptr);
}

// Takes so many batches of slices, then nothing.
class FullSink final : public NullSink {
 public:
  explicit FullSink(int batches) : left_(batches) {}
  Result<void> on_slices(std::span<const Slice> batch) override {
    if (left_-- == 0) return error_at({}, "STV0701", "no space left");
    slices += batch.size();
    return {};
  }

  std::size_t slices = 0;

 private:
  int left_;
};

// The batch that fails was handed over before: the error comes with a later one, at the latest at the end.
TEST(RowBatches, TellTheErrorOfTheSink) {
  for (const int taken : {0, 1, 3, 5}) {
    FullSink sink(taken);
    RowBatches rows(sink);
    const TrackId track = rows.add(Track{.name = "stream"});
    const StringId name = rows.name("kernel");
    Result<void> sent;
    for (int i = 0; i < 100'000 && sent; ++i) {
      rows.add(Slice{.start = Time{i}, .track = track, .name = name});
      sent = rows.flush_if_full();
    }
    if (sent) sent = rows.flush();
    ASSERT_FALSE(sent) << taken;
    EXPECT_EQ(sent.problems()[0].code, "STV0701");
    EXPECT_EQ(sink.slices, 16384U * static_cast<unsigned>(taken));
  }
}

}  // namespace
}  // namespace stave
