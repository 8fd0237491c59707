// What a Kineto trace becomes.
#include "profiles/import/kineto_kinds.h"
#include "tests/profiles/import/imported.h"

#include <filesystem>

namespace stave {
namespace {

TEST(Kineto, ALaunchFansOutToTheKernelsOfItsGraph) {
  std::string events = call(5, "0", "50", "cudaGraphLaunch");
  for (int i = 0; i < 8; ++i)
    events += "," + kernel("node", 5, std::to_string(60 + 10 * i), "9", 7,
                           R"(, "graph id": 3, "graph node id": )" + std::to_string(i));
  const ImportedTimeline trace = import_text(kineto(events));
  EXPECT_EQ(trace.flows(FlowKind::Launch, Certainty::Recorded), 8);
  ASSERT_EQ(trace.timeline.kernels().size(), 8u);
  EXPECT_EQ(trace.timeline.kernels()[7].graph, 3);
  EXPECT_EQ(trace.timeline.kernels()[7].graph_node, 7);
}

TEST(Kineto, ArgumentsAreKeptAndStayJson) {
  const ImportedTimeline trace = import_text(kineto(kernel(
      "k", 1, "0", "1", 7, R"(, "grid": [132, 2, 1], "block": [256, 1, 1], "registers per thread": 40, "odd": nan)")));
  ASSERT_EQ(trace.timeline.args().size(), 1u);
  EXPECT_EQ(trace.timeline.args()[0].json,
            R"({"device": 0, "context": 1, "stream": 7, "correlation": 1, "grid": [132, 2, 1], "block": [256, 1, 1], )"
            R"("registers per thread": 40, "odd": null})");
  const KernelDetail& detail = trace.timeline.kernels()[0];
  EXPECT_EQ(detail.grid, (LaunchDims{132, 2, 1}));
  EXPECT_EQ(detail.block, (LaunchDims{256, 1, 1}));
  EXPECT_EQ(detail.registers_per_thread, 40u);
}

TEST(Kineto, ArgumentsMaySpanLines) {
  const ImportedTimeline trace = import_text(
      kineto(kernel("k", 1, "0", "1", 7, ", \"grid\": [\n  132,\n\t2,\r\n  1\n], \"block\": [256 , 1 , 1]")));
  EXPECT_EQ(trace.timeline.kernels()[0].grid, (LaunchDims{132, 2, 1}));
  EXPECT_EQ(trace.timeline.kernels()[0].block, (LaunchDims{256, 1, 1}));
}

TEST(Kineto, NamesStayReadable) {
  const ImportedTimeline trace = import_text(
      kineto(kernel("a\xff\\u00e9\\ud83d\\ude00\\n", 1, "0", "1") + "," + kernel("C:\\Users\tx", 1, "5", "1")));
  EXPECT_EQ(trace.names(), (std::vector<std::string>{"a\xef\xbf\xbd\xc3\xa9\xf0\x9f\x98\x80\n", "C:\\Users\\x09x"}));
}

TEST(Kineto, CollectivesComeFromTheArguments) {
  const ImportedTimeline trace = import_text(kineto(
      kernel("ncclDevKernel_AllGather_RING_LL", 1, "0", "20", 20,
             R"(, "Collective name": "_allgather_base", "In msg nelems": 100, "Out msg nelems": 800, "Group size": 8, )"
             R"("dtype": "BFloat16", "Process Group Name": "3", "Process Group Ranks": "[0, 1]", "Seq": 41)") +
      "," + kernel("NCCLKernel_without_arguments", 1, "30", "5", 20)));
  EXPECT_EQ(trace.slice("NCCLKernel_without_arguments").family, Family::Collective);
  ASSERT_EQ(trace.timeline.collectives().size(), 1u);
  const CollectiveDetail& detail = trace.timeline.collectives()[0];
  EXPECT_EQ(trace.timeline.text(detail.op), "all_gather");
  EXPECT_EQ(trace.timeline.text(detail.communicator), "3 [0, 1]");
  EXPECT_EQ(trace.timeline.text(detail.dtype), "bf16");
  EXPECT_EQ(detail.count, 800);
  EXPECT_EQ(detail.bytes, 1600);
  EXPECT_EQ(detail.ranks, 8u);
  EXPECT_EQ(detail.sequence, 41);
  EXPECT_EQ(detail.matched_by, MatchedBy::Ids);
}

TEST(Kineto, CopiesSayFromWhereToWhere) {
  const ImportedTimeline trace = import_text(kineto(
      R"x({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 5, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1, "bytes": 4096}},
         {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 8, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1, "bytes": 16}})x"));
  ASSERT_EQ(trace.timeline.copies().size(), 2u);
  const CopyDetail& copy = trace.timeline.copies()[0];
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.copy_kind, 1u);
  EXPECT_EQ(copy.source_kind, 1u);
  EXPECT_EQ(copy.destination_kind, 2u);
  EXPECT_TRUE(trace.timeline.copies()[1].memset);
  EXPECT_EQ(trace.slice("Memset (Device)").family, Family::Memory);
}

TEST(Kineto, StepsAreThoseOfTheProfiler) {
  const auto step = [](int n, const char* start) {
    return R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" + std::to_string(n) +
           R"(", "pid": 100, "tid": 101, "ts": )" + start + R"(, "dur": 100})";
  };
  // The second kernel runs in step 8's time, but was launched in step 7.
  const ImportedTimeline trace =
      import_text(kineto(step(7, "0") + "," + step(8, "100") + "," + call(1, "10") + "," + call(2, "95") + "," +
                         kernel("a", 1, "20", "5") + "," + kernel("b", 2, "120", "5")));
  ASSERT_EQ(trace.timeline.steps().size(), 2u);
  EXPECT_EQ(trace.timeline.steps()[1].step, 8u);
  EXPECT_EQ(trace.timeline.steps()[1].start, 100_us);
  EXPECT_EQ(trace.slice("b").step, StepNumber{7U});
}

TEST(Kineto, MemoryAndCountersAreCounters) {
  const ImportedTimeline trace = import_text(kineto(
      R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1, "args": {"Device Type": 1, "Device Id": 2, "Total Allocated": 512, "Total Reserved": 1024}},
         {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2, "args": {"Device Type": 1, "Device Id": 2, "Total Allocated": 256, "Total Reserved": 1024}},
         {"ph": "C", "name": "power", "pid": 1, "tid": 1, "ts": 3, "args": {"watts": 250.5}})"));
  ASSERT_EQ(trace.timeline.counters().size(), 4u);  // what did not change is not said again
  EXPECT_EQ(trace.timeline.track(trace.timeline.counters()[0].track).name, "GPU 2 memory allocated");
  EXPECT_EQ(trace.timeline.counters()[3].value, 250.5);
}

TEST(Kineto, AStreamWaitsForWhatWasRecordedBefore) {
  const auto wait = [](const std::string& more) {
    return R"({"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 8, "ts": 9, "dur": 1, "args": {"device": 0, )" +
           more + "}}";
  };
  const std::string calls = call(1, "0") + "," + call(2, "4", "1", "cudaEventRecord") + "," +
                            call(3, "6", "1", "cudaStreamWaitEvent") + "," + call(4, "10") + ",";
  const std::string edge = wait(
      R"("stream": 8, "correlation": 3, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2, "wait_on_cuda_event_id": 1)");
  const ImportedTimeline good =
      import_text(kineto(calls + kernel("from", 1, "20", "10", 7) + "," + kernel("to", 4, "31", "5", 8) + "," + edge));
  ASSERT_EQ(good.flows(FlowKind::Event, Certainty::Inferred), 1);
  for (const SliceFlow& flow : good.timeline.flows())
    if (flow.kind == FlowKind::Event) {
      EXPECT_EQ(good.timeline.text(good.timeline.slice(flow.from).name), "from");
      EXPECT_EQ(good.timeline.text(good.timeline.slice(flow.to).name), "to");
    }
  // Times that rule it out.
  const ImportedTimeline bad =
      import_text(kineto(calls + kernel("from", 1, "20", "10", 7) + "," + kernel("to", 4, "25", "5", 8) + "," + edge));
  EXPECT_EQ(bad.flows(FlowKind::Event, Certainty::Inferred), 0);
  EXPECT_EQ(bad.count("STV0751"), 1);
  // An event that nobody knows.
  const ImportedTimeline unknown = import_text(
      kineto(calls + kernel("from", 1, "20", "10", 7) + "," + kernel("to", 4, "31", "5", 8) + "," +
             wait(R"("stream": 8, "correlation": 3, "wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1)")));
  EXPECT_EQ(unknown.flows(FlowKind::Event, Certainty::Inferred), 0);
  EXPECT_EQ(unknown.code(), "");
}

// Rank 1 has a clock of its own; both have the same pids and ids.
std::string rank_text(int rank, long long base, const char* nccl_start, const char* nccl_duration) {
  return kineto(call(1, "0") + "," + kernel("ncclDevKernel_AllReduce", 1, nccl_start, nccl_duration, 20),
                "\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                    ", \"world_size\": 2}, \"baseTimeNanoseconds\": " + std::to_string(base));
}

void expect_two_ranks(const ImportedTimeline& trace) {
  ASSERT_EQ(trace.code(), "");
  ASSERT_EQ(trace.timeline.ranks().size(), 2u);
  EXPECT_EQ(trace.report.orphans, 0);
  EXPECT_EQ(trace.report.flows, 2);
  EXPECT_EQ(trace.run.world_size, 2u);
  EXPECT_EQ(trace.timeline.ranks()[0].rank_from, "distributedInfo");
  EXPECT_EQ(trace.timeline.ranks()[1].clock_from, "collective ends");
  EXPECT_EQ(trace.count("STV0763"), 1);
  std::vector<Time> ends;
  std::vector<Picoseconds> waits;
  for (const CollectiveDetail& detail : trace.timeline.collectives()) {
    ends.push_back(trace.timeline.slice(detail.slice).end());
    waits.push_back(detail.arrival_wait.value_or(-1_ps));
    EXPECT_EQ(*detail.arrival_wait + *detail.transfer, trace.timeline.slice(detail.slice).duration);
  }
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(std::max(waits[0], waits[1]), 40_us);
  EXPECT_EQ(std::min(waits[0], waits[1]), 0_us);
}

// Without records of waits the times say what a call waited for.
TEST(Kineto, CallsThatWaitGetAnEdgeFromTheWorkThatEndsLast) {
  const auto copy = [](int correlation, const std::string& start, const std::string& name) {
    return R"({"ph": "X", "cat": "gpu_memcpy", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" + start +
           R"(, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": )" + std::to_string(correlation) + "}}";
  };
  const ImportedTimeline trace = import_text(kineto(
      copy(3, "104", "Memcpy DtoH (Device -> Pinned)") + "," + call(1, "0") + "," + kernel("early", 1, "5", "10") +
      "," + call(2, "3") + "," + kernel("late", 2, "20", "30", 8) + "," + call(4, "10", "45", "cudaDeviceSynchronize") +
      "," + call(5, "70", "5", "cudaStreamSynchronize") + "," + call(3, "100", "10", "cudaMemcpy") + "," +
      call(6, "120", "10", "cudaMemcpyAsync") + "," + copy(6, "124", "Memcpy DtoH (Device -> Pageable)") + "," +
      call(7, "140", "10", "cudaMemcpyAsync") + "," + copy(7, "144", "Memcpy HtoD (Pinned -> Device)")));
  EXPECT_EQ(trace.report.inferred_flows, 3);
  ASSERT_EQ(trace.flows(FlowKind::Host, Certainty::Inferred), 3);
  const auto names = [&](const SliceFlow& flow) {
    return std::pair(std::string(trace.timeline.text(trace.timeline.slice(flow.from).name)),
                     std::string(trace.timeline.text(trace.timeline.slice(flow.to).name)));
  };
  std::vector<std::pair<std::string, std::string>> found;
  for (const SliceFlow& flow : trace.timeline.flows())
    if (flow.kind == FlowKind::Host) found.push_back(names(flow));
  EXPECT_NE(std::find(found.begin(), found.end(), std::pair<std::string, std::string>("late", "cudaDeviceSynchronize")),
            found.end());
  EXPECT_NE(std::find(found.begin(), found.end(),
                      std::pair<std::string, std::string>("Memcpy DtoH (Device -> Pinned)", "cudaMemcpy")),
            found.end());
}

TEST(Kineto, RanksAreAlignedByTheEndsOfCollectives) {
  const TempFolder folder;
  write_bytes(folder / "a.json", rank_text(0, 1700000000000000000, "10", "50"));
  write_bytes(folder / "b.json.gz", gzipped(rank_text(1, 1700000000007000000, "50.5", "10")));
  expect_two_ranks(import_files({folder / "a.json", folder / "b.json.gz"}));
  expect_two_ranks(import_files({folder.path()}));  // the folder
}

TEST(Kineto, AnArchiveHoldsRanksAndClocksMayBeAgesApart) {
  const TempFolder folder;
  const std::string tar = tar_member("run/rank0.json", rank_text(0, 1700000000000000000, "10", "50")) +
                          tar_member("run/readme.txt", "not a trace") +
                          tar_member("run/rank1.json", rank_text(1, 1690000000000000000, "50.5", "10")) +
                          std::string(1024, '\0');
  write_bytes(folder / "run.tar", tar);
  write_bytes(folder / "run.tar.gz", gzipped(tar));
  expect_two_ranks(import_files({folder / "run.tar"}));
  expect_two_ranks(import_files({folder / "run.tar.gz"}));
}

TEST(Kineto, RankNumbersComeFromTheNameOrTheOrder) {
  const TempFolder folder;
  const std::string text = kineto(kernel("k", 1, "0", "1"), "\"displayTimeUnit\": \"ms\"");
  for (const char* name : {"a_rank3.json", "worker1_step_12.1694128201554.json", "x.json", "rank_3.json"})
    write_bytes(folder / name, text);
  const ImportedTimeline trace = import_files({folder / "a_rank3.json", folder / "worker1_step_12.1694128201554.json",
                                               folder / "x.json", folder / "rank_3.json"});
  std::vector<std::uint32_t> ranks;
  for (const RankInfo& rank : trace.timeline.ranks()) ranks.push_back(rank.rank);
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{3, 1, 0, 2}));
  EXPECT_EQ(trace.timeline.ranks()[0].rank_from, "file name");
  EXPECT_EQ(trace.timeline.ranks()[2].rank_from, "position");
  EXPECT_EQ(trace.count("STV0762"), 1);
  EXPECT_EQ(trace.count("STV0761"), 1);
}

TEST(Kineto, SourcesAreNamedAndHashed) {
  const TempFolder folder;
  const std::string packed = gzipped(kineto(kernel("k", 1, "0", "1")));
  write_bytes(folder / "a.json.gz", packed);
  const ImportedTimeline trace = import_files({folder / "a.json.gz"});
  ASSERT_EQ(trace.timeline.sources().size(), 1u);
  EXPECT_EQ(trace.timeline.sources()[0].name, "a.json.gz");
  EXPECT_EQ(trace.timeline.sources()[0].bytes, static_cast<std::int64_t>(packed.size()));
  EXPECT_EQ(trace.timeline.sources()[0].sha256.size(), 64u);
  // The kernel has no launch; who is told wants the path, the file does not.
  ASSERT_EQ(trace.timeline.problems().size(), 1u);
  EXPECT_EQ(trace.timeline.problems()[0].file, "a.json.gz");
  EXPECT_EQ(trace.report.problems[0].file, folder / "a.json.gz");
}

TEST(Kineto, ADamagedArchiveKeepsWhatCameBefore) {
  const TempFolder folder;
  std::string events = call(1, "0");
  for (int i = 0; i < 5000; ++i)
    events += ",\n" + kernel("k" + std::to_string(i * 7919), 1, std::to_string(10 + i), "1");
  const std::string packed = gzipped(kineto(events));
  write_bytes(folder / "cut.json.gz", packed.substr(0, packed.size() / 2));
  const ImportedTimeline trace = import_files({folder / "cut.json.gz"});
  ASSERT_EQ(trace.code(), "");
  EXPECT_GT(trace.report.kernels, 1000);
  EXPECT_LT(trace.report.kernels, 5000);
  EXPECT_EQ(trace.count("STV0759"), 1);
  EXPECT_TRUE(trace.report.data_lost);
}

// By a library's name or the op's; what compilers fuse around an op, and what reduces within one device, is none.
TEST(Kineto, CollectivesAreKnownByTheirNames) {
  for (const char* name :
       {"ncclDevKernel_SendRecv", "mscclrccl", "void multimem_all_reduce_kernel<bf16, 16>(bf16*)", "two_shot_allreduce",
        "vllm::cross_device_all_gather_1stage", "ReduceScatterPull", "AllToAllV"})
    EXPECT_EQ(kernel_family(name), Family::Collective) << name;
  for (const char* name : {"triton_poi_fused_add_all_reduce_wait_tensor_3", "softmaxBlockAllReduceSum",
                           "warp_all_reduce_rows", "reduce_kernel<512>", "scatter_add", "gather", "small_reduce"})
    EXPECT_EQ(kernel_family(name), Family::Compute) << name;
  EXPECT_EQ(kernel_family("fused_gemm_all_reduce"), Family::Collective);
}

TEST(Kineto, WhatElseLiesInAFolderIsTold) {
  const TempFolder folder;
  write_bytes(folder / "rank0.json", kineto(kernel("k", 1, "0", "1")));
  EXPECT_EQ(import_files({folder.path()}).count("STV0766"), 0);
  write_bytes(folder / "readme.txt", "not a trace");
  for (const char* name : {"a.sqlite", "b.sqlite", "c.et.gz"}) write_bytes(folder / name, "of another program");
  const ImportedTimeline trace = import_files({folder.path()});
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.kernels, 1);
  EXPECT_TRUE(trace.report.data_lost);
  ASSERT_EQ(trace.count("STV0766"), 1);
  std::string messages;
  for (const TimelineProblem& problem : trace.report.problems) messages += problem.message + "\n";
  EXPECT_NE(messages.find("1 .et, 2 .sqlite"), std::string::npos) << messages;
}

TEST(Kineto, FilesOfSeveralRunsAreSuspected) {
  const TempFolder folder;
  const auto write = [&](const std::string& rank, const std::string& second) {
    write_bytes(folder / ("rank" + rank + ".json"), kineto(kernel("ncclDevKernel_AllReduce", 1, "10", "50", 20) + "," +
                                                           kernel("ncclDevKernel_AllReduce", 2, second, "50", 20)));
    return folder / ("rank" + rank + ".json");
  };
  const std::string first = write("0", "10000");
  EXPECT_EQ(import_files({first, write("1", "10900")}).count("STV0767"), 0);
  const ImportedTimeline trace = import_files({first, write("1", "15000")});
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.count("STV0767"), 1);
  EXPECT_EQ(trace.count("STV0763"), 0);
}

TEST(Kineto, FormatsDoNotMix) {
  const TempFolder folder;
  write_bytes(folder / "a.json", kineto(kernel("k", 1, "0", "1")));
  write_database(folder / "b.sqlite", "CREATE TABLE META_DATA_EXPORT(name, value)");
  EXPECT_EQ(import_files({folder / "a.json", folder / "b.sqlite"}).code(), "STV0733");
  EXPECT_EQ(import_files({folder / "none.json"}).code(), "STV0001");
  EXPECT_EQ(import_files({folder / "x.nsys-rep"}).code(), "STV0732");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(import_files({folder / "empty"}).code(), "STV0731");
}

TEST(Kineto, EqualInputGivesEqualTimelines) {
  std::string events = call(1, "0");
  for (int i = 0; i < 300; ++i)
    events += "," + kernel("k" + std::to_string(i % 5), 1, std::to_string((i * 37) % 300), "3", i % 3);
  EXPECT_TRUE(import_text(kineto(events)).timeline == import_text(kineto(events)).timeline);
}

}  // namespace
}  // namespace stave
