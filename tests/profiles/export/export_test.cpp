// Each format, read back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "profiles/export/lanes.h"
#include "tests/profiles/export/stored.h"
#include "tests/profiles/random_timeline.h"

namespace stave {
namespace {

std::string cell(const std::string& database, const std::string& sql) {
  sqlite3* handle = nullptr;
  sqlite3_open(database.c_str(), &handle);
  sqlite3_stmt* statement = nullptr;
  std::string out;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) out = sqlite3_errmsg(handle);
  while (statement != nullptr && sqlite3_step(statement) == SQLITE_ROW) {
    for (int c = 0; c < sqlite3_column_count(statement); ++c) {
      const unsigned char* text = sqlite3_column_text(statement, c);
      out += (out.empty() ? "" : "|") + std::string(text == nullptr ? "NULL" : reinterpret_cast<const char*>(text));
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(handle);
  return out;
}

TEST(Export, ChromeAndNsightAreReadBackByTheirImporters) {
  const Timeline timeline = small_timeline();
  for (const char* name : {"out.json", "out.sqlite"}) {
    Stored stored(timeline);
    const ImportedTimeline back = stored.imported_back(name);
    EXPECT_EQ(device_work(back.timeline), device_work(timeline)) << name;
    EXPECT_EQ(back.flows(FlowKind::Launch, Certainty::Recorded), 1) << name;
    EXPECT_EQ(back.slice("inner").duration, 10'000_ps) << name;
    EXPECT_EQ(back.slice("cudaLaunchKernel").start, Time{1'000}) << name;
    EXPECT_EQ(back.timeline.copies()[0].bytes, 4096) << name;
    EXPECT_EQ(back.timeline.kernel(SliceId{back.timeline.kernels()[0].slice})->correlation.has_value(), true);
    EXPECT_EQ(back.report.overlaps, 1) << name;
    EXPECT_FALSE(back.report.data_lost) << name;
  }
}

TEST(Export, EqualInputGivesEqualBytes) {
  Stored stored(small_timeline());
  for (const Exporter& exporter : exporters()) {
    const std::string once = stored.exported("once" + std::string(exporter.extension));
    EXPECT_EQ(once, stored.exported("twice" + std::string(exporter.extension))) << exporter.name;
    EXPECT_FALSE(once.empty());
  }
}

TEST(Export, OverlapsGetThreadsOfTheirOwnInChromeJson) {
  Stored stored(small_timeline());
  const std::string json = stored.exported("out.json");
  EXPECT_NE(json.find(R"("name": "second", "pid": 0, "tid": 5, "ts": 0.060, "dur": 0.020)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name": "stream 7, overlap 1")"), std::string::npos);
  EXPECT_NE(json.find(R"("ph": "s", "cat": "ac2g")"), std::string::npos);
  EXPECT_NE(json.find(R"("ph": "C", "name": "memory", "pid": 0, "ts": 0.007, "args": {"memory": 1024})"),
            std::string::npos);
}

TEST(Export, NsightTablesSayWhatTheyDoNotKnow) {
  Stored stored(small_timeline());
  stored.exported("out.sqlite");
  const std::string file = stored / "out.sqlite";
  EXPECT_EQ(cell(file,
                 "SELECT gridX, gridY, gridZ, registersPerThread, mangledName, clusterX FROM "
                 "CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 5"),
            "2|3|4|0|NULL|NULL");
  EXPECT_NE(cell(file, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STAVE_ZERO_IS_UNKNOWN'")
                .find("KERNEL.registersPerThread"),
            std::string::npos);
  EXPECT_EQ(cell(file, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'"), "3.24.14");
  EXPECT_EQ(cell(file,
                 "SELECT o.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER o ON o.id = "
                 "m.copyKind"),
            "Host-to-Device");
  // The join of `nsys stats`: process and correlation.
  EXPECT_EQ(cell(file,
                 "SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON "
                 "r.correlationId = k.correlationId AND r.globalTid & ~0xffffff = k.globalPid JOIN StringIds s "
                 "ON s.id = k.shortName"),
            "gemm<float>, \"quoted\"");
  EXPECT_EQ(stored.report.left_out.at("samples of counters"), 1);
  EXPECT_EQ(stored.report.left_out.at("edges that are no launch"), 1);
}

TEST(Export, PredictionsWithoutCorrelationIdsGetThem) {
  Timeline timeline;
  const TrackId stream = timeline.add(Track{.name = "main", .device = 0, .stream = 0});
  const TrackId host = timeline.add(Track{.kind = TrackKind::Host, .name = "host", .thread = 0});
  const StringId name = timeline.intern("k");
  const SliceId call = timeline.add(
      Slice{.start = Time{0}, .duration = 5'000_ps, .track = host, .name = name, .family = Family::HostApi});
  const SliceId work = timeline.add(
      Slice{.start = Time{5'000}, .duration = 5'000_ps, .track = stream, .name = name, .family = Family::Compute});
  timeline.add(SliceFlow{call, work, FlowKind::Launch, Certainty::Predicted});
  for (const char* file : {"out.json", "out.sqlite"}) {
    Stored stored(timeline);
    EXPECT_EQ(stored.imported_back(file).flows(FlowKind::Launch, Certainty::Recorded), 1) << file;
  }
}

TEST(Export, CsvKeepsTextsToTheByte) {
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "a,\"b\"\r\n"});
  timeline.add(Slice{.start = Time{-7}, .duration = 3_ps, .track = track, .name = timeline.intern("=1+cmd|' /C'!A0")});
  Stored stored(timeline);
  const std::string csv = stored.exported("out.csv");
  EXPECT_NE(csv.find("\r\n1,0,stream,\"a,\"\"b\"\"\r\n\",,,0,-7,3,\"=1+cmd|' /C'!A0\",other,"), std::string::npos)
      << csv;
}

TEST(Export, PicturesEscapeNamesAndNeedNothingElse) {
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "</text><script>x()</script>"});
  timeline.add(Slice{.start = Time{0},
                     .duration = 1'000'000_ps,
                     .track = track,
                     .name = timeline.intern("<a href=\"http://x\">\x01\xff&"),
                     .family = Family::Gemm});
  Stored stored(timeline);
  const std::string svg = stored.exported("out.svg");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<a "), std::string::npos);
  EXPECT_NE(svg.find("&lt;a href=&quot;http://x&quot;&gt;\xef\xbf\xbd\xef\xbf\xbd&amp;"), std::string::npos) << svg;
  EXPECT_NE(svg.find("time in ns"), std::string::npos);
  EXPECT_NE(svg.find("rank 0"), std::string::npos);
}

TEST(Export, PicturesOfManySlicesStaySmall) {
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "stream"});
  const StringId name = timeline.intern("kernel");
  for (std::int64_t i = 0; i < 100'000; ++i)
    timeline.add(Slice{.start = Time{i * 1'000'000}, .duration = 900'000_ps, .track = track, .name = name});
  Stored stored(timeline);
  const std::string svg = stored.exported("out.svg");
  EXPECT_EQ(stored.report.slices, 100'000);
  EXPECT_LT(svg.size(), 1'000'000u);
}

TEST(Export, WindowsKeepWholeSlicesAndRanksAreChosen) {
  Timeline timeline = small_timeline();
  const TrackId other = timeline.add(Track{.rank = 1, .name = "other", .device = 1, .stream = 7});
  timeline.add(
      Slice{.start = Time{60'000}, .duration = 5'000_ps, .track = other, .name = timeline.intern("elsewhere")});
  Stored stored(timeline);
  const std::string late = stored.exported("late.csv", {.window = {Time{70'000}, Time{200'000}}});
  EXPECT_NE(late.find("\"second\""), std::string::npos);
  EXPECT_NE(late.find("\"outer\""), std::string::npos);
  EXPECT_EQ(late.find("gemm<float>"), std::string::npos);
  const std::string one = stored.exported("one.csv", {.ranks = {1}});
  EXPECT_NE(one.find("elsewhere"), std::string::npos);
  EXPECT_EQ(one.find("second"), std::string::npos);
  // Edges to what is not there are not written either.
  stored.exported("late.json", {.window = {Time{80'000}, Time{200'000}}});
  EXPECT_EQ(stored.report.edges, 0);
}

TEST(Export, DamagedRunsAreErrors) {
  Stored stored(small_timeline());
  cell(stored / "run.sqlite", "UPDATE STAVE_SLICE SET track_id = 99");
  Result<RunCursor> cursor = RunCursor::open(stored / "run.sqlite", 1, {});
  ASSERT_TRUE(cursor);
  const auto written = export_csv(*cursor, {}, stored / "x.csv", nullptr);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.problems()[0].code, "STV0706");
}

TEST(Export, AFullDiskIsAnError) {
  Stored stored(small_timeline());
  Result<RunCursor> cursor = RunCursor::open(stored / "run.sqlite", 1, {});
  ASSERT_TRUE(cursor);
  const auto written = export_csv(*cursor, {}, "/dev/full", nullptr);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.problems()[0].code, "STV0002");
}

RC_GTEST_PROP(Export, AnyTimelineCanBeWritten, ()) {
  Stored stored(random_timeline());
  for (const Exporter& exporter : exporters())
    RC_ASSERT(!stored.exported("out" + std::string(exporter.extension)).empty());
}

TEST(Lanes, NestedCallsShareOneAndOverlapsDoNot) {
  Lanes thread(true);
  EXPECT_EQ(thread.place(0, 100).depth, 0u);
  EXPECT_EQ(thread.place(10, 50).depth, 1u);
  EXPECT_EQ(thread.place(20, 50).depth, 2u);
  EXPECT_EQ(thread.place(50, 120).lane, 1u);
  EXPECT_EQ(thread.place(100, 110).lane, 0u);
  Lanes stream(false);
  EXPECT_EQ(stream.place(0, 100).lane, 0u);
  EXPECT_EQ(stream.place(10, 50).lane, 1u);
  EXPECT_EQ(stream.place(100, 150).lane, 0u);
}

}  // namespace
}  // namespace stave
