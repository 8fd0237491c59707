// Exports of Nsight Systems, whole, partial and hostile: databases of our own.
#include "tests/profiles/import/imported.h"

#include <filesystem>

namespace stave {
namespace {

constexpr std::int64_t process_a = 0x1000064000000, process_b = 0x1000065000000;  // globalPid

const std::string meta =
    "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.24.14');";
const std::string strings =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaEventRecord_v3020'),"
    "(4, 'cudaStreamWaitEvent_v3020'), (5, 'a<float>(int)'), (6, 'cudaStreamSynchronize_v3020'), (7, 'step');";
const std::string runtime =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,"
    "correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);";

std::string kernels(const std::string& table = "CUPTI_ACTIVITY_KIND_KERNEL") {
  return "CREATE TABLE " + table +
         "(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
         "globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,"
         "blockX INTEGER, blockY INTEGER, blockZ INTEGER, graphNodeId INTEGER, launchType INTEGER);";
}
std::string kernel_row(int start, int end, int correlation, std::int64_t process = process_a, int device = 0,
                       std::int64_t stream = 7, const std::string& table = "CUPTI_ACTIVITY_KIND_KERNEL") {
  return fmt::format("INSERT INTO {} VALUES({},{},{},1,{},{},{},5,1,2,1,1,128,1,1,NULL,1);", table, start, end, device,
                     stream, correlation, process);
}
std::string call_row(int start, int end, int correlation, int name = 2, std::int64_t process = process_a) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},0,{},{},{},0,NULL);", start, end,
                     process | 9, correlation, name);
}

ImportedTimeline import_sql(const std::string& sql) {
  const TempFolder folder;
  write_database(folder / "trace.sqlite", sql);
  return import_files({folder / "trace.sqlite"});
}

TEST(Nsys, RowsBecomeSlices) {
  const ImportedTimeline trace =
      import_sql(meta + strings + runtime + kernels() + call_row(500, 600, 1) + kernel_row(1000, 2500, 1));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.format, "nsys");
  EXPECT_EQ(trace.report.format_version, "3.24.14");
  EXPECT_TRUE(trace.report.problems.empty());
  const Slice& kernel = trace.slice("gemm");
  EXPECT_EQ(kernel.start, 500_ns);  // from the first row
  EXPECT_EQ(kernel.duration, 1500_ns);
  EXPECT_EQ(kernel.family, Family::Compute);  // by its full name
  EXPECT_EQ(trace.slice("cudaLaunchKernel_v7000").family, Family::HostApi);
  ASSERT_EQ(trace.timeline.kernels().size(), 1u);
  EXPECT_EQ(trace.timeline.kernels()[0].grid, (LaunchDims{2, 1, 1}));
  EXPECT_EQ(trace.timeline.text(trace.timeline.kernels()[0].demangled_name), "a<float>(int)");
  ASSERT_EQ(trace.timeline.args().size(), 1u);
  EXPECT_EQ(trace.timeline.args()[0].json, R"({"launchType": 1})");
  EXPECT_EQ(trace.flows(FlowKind::Launch, Certainty::Recorded), 1);
  EXPECT_EQ(trace.timeline.ranks()[0].pid, 0x64);
}

TEST(Nsys, TheSameIdInTwoProcessesIsTwoCalls) {
  const ImportedTimeline trace =
      import_sql(meta + strings + runtime + kernels() + call_row(500, 600, 5) + call_row(510, 620, 5, 2, process_b) +
                 kernel_row(1000, 2000, 5) + kernel_row(1100, 1900, 5, process_b, 1));
  EXPECT_EQ(trace.report.flows, 2);
  EXPECT_EQ(trace.report.ranks, 2u);
  EXPECT_EQ(trace.report.orphans, 0);
  for (const SliceFlow& flow : trace.timeline.flows())
    EXPECT_EQ(trace.timeline.track(trace.timeline.slice(flow.from).track).rank,
              trace.timeline.track(trace.timeline.slice(flow.to).track).rank);
}

TEST(Nsys, TablesMayHaveASuffixAndAnyCase) {
  for (const std::string table : {"CUPTI_ACTIVITY_KIND_KERNEL_V2", "cupti_activity_kind_kernel_v3"}) {
    const ImportedTimeline trace =
        import_sql(meta + strings + kernels(table) + kernel_row(1000, 2000, 1, process_a, 0, 7, table));
    EXPECT_EQ(trace.report.kernels, 1) << table;
    EXPECT_EQ(trace.report.orphans, 1);
  }
}

TEST(Nsys, ColumnsAndTablesMayBeMissing) {
  const ImportedTimeline trace = import_sql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, demangledName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000, 2000, 0, 7, 1, 'named here');");
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.names(), std::vector<std::string>{"named here"});
  EXPECT_EQ(trace.count("STV0754"), 1);
  EXPECT_EQ(trace.count("STV0755"), 1);
  EXPECT_FALSE(trace.timeline.kernels()[0].grid);
}

TEST(Nsys, GraphLaunchesWithoutKernelsAreTold) {
  const ImportedTimeline trace = import_sql(
      meta +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end, deviceId, contextId, streamId, correlationId,"
      "globalPid, graphId, graphExecId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1000, 9000, 0, 1, 7, 3, 281476654432256, 4, 5);");
  EXPECT_EQ(trace.count("STV0753"), 1);
  EXPECT_EQ(trace.slice("CUDA graph 4").duration, 8_us);
}

TEST(Nsys, WaitsAreNoWorkAndGiveEdges) {
  const std::string sync =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId,"
      "globalPid, syncType, eventId, eventSyncId);";
  const auto sync_row = [](int start, int end, std::int64_t stream, int correlation, int type) {
    return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES({},{},0,1,{},{},{},{},1,1);", start, end,
                       stream, correlation, process_a, type);
  };
  const std::string all = meta + strings + runtime + kernels() + sync + call_row(100, 110, 1) +
                          call_row(120, 130, 2, 3) + call_row(140, 150, 3, 4) + call_row(160, 170, 4) +
                          call_row(180, 4100, 5, 6) + kernel_row(1000, 2000, 1) +
                          kernel_row(2100, 4000, 4, process_a, 0, 8) + sync_row(141, 142, 8, 3, 2) +
                          sync_row(181, 4050, 8, 5, 3) + sync_row(4060, 4070, 4294967295, 6, 1);
  const ImportedTimeline trace = import_sql(all);
  // Where the event was recorded is a guess; that the host waited for the stream is not.
  EXPECT_EQ(trace.flows(FlowKind::Event, Certainty::Possible), 1);
  EXPECT_EQ(trace.flows(FlowKind::Host, Certainty::Inferred), 1);
  EXPECT_EQ(trace.report.inferred_flows, 2);
  for (const std::string name : {"Stream Wait Event", "Stream Sync", "Event Sync"})
    EXPECT_EQ(trace.timeline.track(trace.slice(name).track).kind, TrackKind::Host);
  EXPECT_FALSE(trace.timeline.track(trace.slice("Event Sync").track).stream);
  // With rows of events the stream is known.
  const ImportedTimeline known =
      import_sql(all +
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId, correlationId,"
                 "globalPid, eventId, eventSyncId);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES(0, 0, 1, 7, 2, " +
                 std::to_string(process_a) + ", 1, 1);");
  EXPECT_EQ(known.flows(FlowKind::Event, Certainty::Inferred), 1);
}

// Times in ns. The wait returns at 100 us; what it waited for ends later on the device's clock.
TEST(Nsys, AWaitOfTheHostMayEndASkewBeforeItsWork) {
  const auto import_skewed = [](int kernel_end, int last_start, int last_end) {
    return import_sql(
        meta + strings + "INSERT INTO StringIds VALUES(8, 'last');" + runtime + kernels() +
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId,"
        "globalPid, syncType, eventId, eventSyncId);" +
        call_row(0, 500, 1) + call_row(600, 900, 2) + call_row(1000, 100'500, 3, 6) + kernel_row(2000, kernel_end, 1) +
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{},0,1,7,2,{},8,8,2,1,1,128,1,1,NULL,1);",
                    last_start, last_end, process_a) +
        fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(1100,100000,0,1,7,3,{},3,1,1);",
                    process_a));
  };
  const auto waited_for = [](const ImportedTimeline& trace) {
    for (const SliceFlow& flow : trace.timeline.flows())
      if (flow.kind == FlowKind::Host) return std::string(trace.timeline.text(trace.timeline.slice(flow.from).name));
    return std::string("nothing");
  };
  EXPECT_EQ(waited_for(import_skewed(90'000, 99'000, 106'000)), "last");
  const ImportedTimeline behind = import_skewed(104'000, 105'000, 106'000);  // as a whole: an edge must not go back
  EXPECT_EQ(waited_for(behind), "gemm");
  EXPECT_EQ(behind.count("STV0751"), 0);
  EXPECT_EQ(behind.slice("cudaStreamSynchronize_v3020").flags, slice_flags::waits);
  EXPECT_EQ(behind.slice("cudaLaunchKernel_v7000").flags, 0);
  const ImportedTimeline early = import_skewed(90'000, 99'000, 140'000);
  EXPECT_EQ(waited_for(early), "nothing");
  EXPECT_EQ(early.count("STV0751"), 1);
  ASSERT_FALSE(early.report.problems.empty());
  EXPECT_NE(early.report.problems[0].message.find("of the host"), std::string::npos);
}

TEST(Nsys, ACopyAndAWaitForTheDeviceMayEndASkewLater) {
  const ImportedTimeline trace = import_sql(
      meta + strings + "INSERT INTO StringIds VALUES(8, 'cudaDeviceSynchronize_v3020'), (9, 'cudaMemcpy_v3020');" +
      runtime + kernels() +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, correlationId, globalPid,"
      "bytes, copyKind, srcKind, dstKind);" +
      call_row(500, 600, 1) + call_row(700, 3000, 4, 8) + kernel_row(1000, 9000, 1) + call_row(20'000, 30'000, 5, 9) +
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(21000, 36000, 0, 1, 7, 5, {}, 64, 2, 2, 1);",
                  process_a));
  EXPECT_EQ(trace.flows(FlowKind::Host, Certainty::Inferred), 2);
}

TEST(Nsys, CallsNestAndWaitForTheDevice) {
  const ImportedTimeline trace = import_sql(
      meta + strings + "INSERT INTO StringIds VALUES(8, 'cudaDeviceSynchronize_v3020'), (9, 'cuLaunchKernel');" +
      runtime + kernels() + call_row(500, 600, 1) + call_row(520, 580, 2, 9) + call_row(530, 540, 3, 9) +
      call_row(700, 3000, 4, 8) + kernel_row(1000, 2500, 1));
  ASSERT_EQ(trace.code(), "");
  std::vector<int> lanes;
  for (const Slice& slice : trace.timeline.slices()) lanes.push_back(slice.lane);
  EXPECT_EQ(lanes, (std::vector<int>{0, 1, 2, 0, 0}));
  EXPECT_EQ(trace.report.inferred_flows, 1);
  ASSERT_EQ(trace.flows(FlowKind::Host, Certainty::Inferred), 1);
  const SliceFlow& flow = trace.timeline.flows().back();
  EXPECT_EQ(trace.timeline.text(trace.timeline.slice(flow.from).name), "gemm");
  EXPECT_EQ(trace.timeline.text(trace.timeline.slice(flow.to).name), "cudaDeviceSynchronize_v3020");
}

TEST(Nsys, WarmUpIsBeforeTheStart) {
  const ImportedTimeline trace =
      import_sql(meta + strings + kernels() + kernel_row(-500, -100, 1) + kernel_row(1000, 2000, 2));
  EXPECT_EQ(trace.count("STV0757"), 1);
  EXPECT_EQ(trace.timeline.slices()[0].start, -1500_ns);
  EXPECT_EQ(trace.timeline.slices()[1].start, 0_ps);
}

TEST(Nsys, RangesAndTheirSteps) {
  std::string sql = meta + strings + kernels() + runtime +
                    "CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, category, color, text, globalTid,"
                    "endGlobalTid, textId, domainId);";
  const auto range = [&](int start, const std::string& end, const std::string& text, const std::string& text_id,
                         int type = 59) {
    sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},{},NULL,NULL,NULL,{},{},NULL,{},0);", start, end, type,
                       text, process_a | 9, text_id);
  };
  for (int i = 0; i < 4; ++i) {
    range(1000 * i, std::to_string(1000 * i + 900), "NULL", "7");
    range(1000 * i + 10, std::to_string(1000 * i + 20), "'inner " + std::to_string(i) + "'", "NULL");
  }
  range(50, "NULL", "'open'", "NULL");
  range(60, "NULL", "'mark'", "NULL", 34);
  sql += call_row(2100, 2110, 1) + kernel_row(3050, 3060, 1);
  const ImportedTimeline trace = import_sql(sql);
  ASSERT_EQ(trace.timeline.steps().size(), 4u);
  EXPECT_EQ(trace.timeline.steps()[2].step, 2u);
  EXPECT_EQ(trace.timeline.steps()[2].start, 2_us);
  EXPECT_EQ(trace.slice("gemm").step, StepNumber{2U});  // where it was launched
  EXPECT_EQ(trace.slice("step").family, Family::Mark);
  EXPECT_EQ(trace.slice("mark").duration, 0_ps);
  EXPECT_EQ(trace.count("STV0748"), 1);
}

TEST(Nsys, ValuesOutOfRangeCostOneRow) {
  const ImportedTimeline trace = import_sql(
      meta + strings + kernels() + kernel_row(1000, 2000, 1) +
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(9223372036854775807, 9223372036854775807, 0, 1, 7, 1, 1, 1, 1,"
      "1, 1, 1, 1, 1, 1, NULL, 1), ('x', NULL, NULL, NULL, NULL, NULL, NULL, x'00ff', NULL, -1, -1, -1, 1, 1, 1, NULL,"
      "NULL);");
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.count("STV0758"), 2);
  EXPECT_TRUE(trace.report.data_lost);
}

// A time or a stream that is no number is unknown: no kernel at 0, and no other row is moved by it.
TEST(Nsys, WhatIsNoNumberIsNoTimeAndNoStream) {
  const auto row = [](const std::string& start, const std::string& end, const std::string& stream) {
    return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" + start + ", " + end + ", 0, 1, " + stream +
           ", NULL, NULL, 1, 1, 1, 1, 1, 1, 1, 1, NULL, 1);";
  };
  const ImportedTimeline trace = import_sql(
      meta + strings + runtime + kernels() + row("5000", "6000", "7") + row("'abc'", "NULL", "7") +
      row("'abc'", "6000", "7") + row("5000", "NULL", "7") + row("NULL", "6000", "7") +
      row("5000", "6000", "-9000000000000000000") + row("5000", "6000", "'seven'") + row("7000.0", "'8000'", "7") +
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES('abc', 5, 0, 1, 1, 2, 0, NULL), (NULL, 5, 0, 1, 1, 2, 0, NULL);");
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.count("STV0758"), 8);
  ASSERT_EQ(trace.timeline.slices().size(), 2u);
  EXPECT_EQ(trace.timeline.slices()[0].start, 0_ns);
  EXPECT_EQ(trace.timeline.slices()[1].start, 2000_ns);
  EXPECT_EQ(trace.timeline.slices()[1].duration, 1000_ns);
}

// The pages of a table, a text or a step lie anywhere in a file.
class NsysDamage : public ::testing::Test {
 protected:
  NsysDamage() {
    std::string sql = meta + strings + runtime + kernels() +
                      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, globalTid INTEGER, text TEXT);";
    for (int i = 0; i < 1000; ++i)
      sql +=
          kernel_row(1000 + 10 * i, 1005 + 10 * i, i) + call_row(1000 + 10 * i, 1001 + 10 * i, i) +
          fmt::format("INSERT INTO StringIds VALUES({}, 'name {}'); INSERT INTO NVTX_EVENTS VALUES({}, {}, 9, 'r{}');",
                      100 + i, i, 1000 + 10 * i, 1005 + 10 * i, i);
    write_database(folder_ / "a.sqlite", "BEGIN;" + sql + "COMMIT;");
    size_ = std::filesystem::file_size(folder_ / "a.sqlite");
  }

  TempFolder folder_;
  std::uintmax_t size_ = 0;
};

TEST_F(NsysDamage, OfAPageCostsItsRows) {
  std::string whole;
  {
    std::ifstream in(folder_ / "a.sqlite", std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  int partial = 0;
  for (std::size_t at = 8192; at + 8192 <= whole.size(); at += whole.size() / 9) {
    std::string bytes = whole;
    bytes.replace(at, 8192, std::string(8192, '\x5a'));
    std::ofstream(folder_ / "b.sqlite", std::ios::binary) << bytes;
    const ImportedTimeline trace = import_files({folder_ / "b.sqlite"});
    if (trace.code() == "STV0706" || trace.code() == "STV0731") continue;  // the list of tables itself
    EXPECT_EQ(trace.code(), "") << at;
    EXPECT_GT(trace.count("STV0759"), 0) << at;
    EXPECT_TRUE(trace.report.data_lost) << at;
    EXPECT_GT(trace.timeline.slices().size(), 0u) << at;
    ++partial;
  }
  EXPECT_GE(partial, 7);
}

TEST_F(NsysDamage, OfItsEndCostsTheEnd) {
  for (const std::uintmax_t tenths : {9u, 5u}) {
    std::filesystem::resize_file(folder_ / "a.sqlite", size_ * tenths / 10);
    const ImportedTimeline trace = import_files({folder_ / "a.sqlite"});
    ASSERT_EQ(trace.code(), "");
    EXPECT_GT(trace.count("STV0759"), 0);
    EXPECT_GT(trace.report.kernels, 100);
    EXPECT_LT(trace.timeline.slices().size(), 3000u);
  }
}

TEST(Nsys, NothingOfAHostileFileRuns) {
  const TempFolder folder;
  const std::string probe = folder / "ran";
  write_database(folder / "a.sqlite",
                 meta + strings +
                     // A view, a virtual table and a generated column in the places of tables.
                     "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT randomblob(1000000000) AS start;"
                     "CREATE VIRTUAL TABLE CUPTI_ACTIVITY_KIND_MEMCPY USING fts5(start, end);"
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER,"
                     "globalTid INTEGER AS (length(hex(zeroblob(400000000)))), nameId INTEGER);"
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, correlationId, nameId) VALUES(1, 2, 3, 2);"
                     "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN SELECT load_extension('" +
                     probe + "'); END;" + "CREATE TABLE \"x\"\"; DROP TABLE StringIds; --\"(a);");
  const std::string size_before = std::to_string(std::filesystem::file_size(folder / "a.sqlite"));
  const ImportedTimeline trace = import_files({folder / "a.sqlite"});
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.kernels, 0);
  EXPECT_EQ(trace.report.calls, 1);
  EXPECT_EQ(trace.names(), std::vector<std::string>{"cudaLaunchKernel_v7000"});
  EXPECT_EQ(std::to_string(std::filesystem::file_size(folder / "a.sqlite")), size_before);
}

TEST(Nsys, WhatIsCountedOnceIsInTheSingular) {
  const auto message = [](const std::string& rows) {
    const ImportedTimeline trace = import_sql(meta + strings + runtime + kernels() + rows);
    return trace.report.problems.empty() ? "none" : trace.report.problems[0].message;
  };
  const std::string place = " the recording started later; first in CUPTI_ACTIVITY_KIND_KERNEL row 1";
  EXPECT_EQ(message(kernel_row(1, 2, 3)), "1 GPU record without the call that launched it:" + place);
  EXPECT_EQ(message(kernel_row(1, 2, 3) + kernel_row(2, 3, 4)),
            "2 GPU records without the call that launched them:" + place);
}

TEST(Nsys, OtherDatabasesAreNoExports) {
  EXPECT_EQ(import_sql("CREATE TABLE t(a)").code(), "STV0731");
  EXPECT_EQ(import_sql(meta).code(), "STV0731");
}

TEST(Nsys, WhatTheRecorderSaidIsShown) {
  const ImportedTimeline trace =
      import_sql(meta + strings + kernels() + kernel_row(1, 2, 3) +
                 "CREATE TABLE DIAGNOSTIC_EVENT(timestamp, timestampType, source, severity, text, globalPid);"
                 "INSERT INTO DIAGNOSTIC_EVENT VALUES(0,0,0,1,'started',0),(0,0,0,2,'buffers were lost',0);");
  ASSERT_EQ(trace.count("STV0756"), 1);
}

}  // namespace
}  // namespace stave
