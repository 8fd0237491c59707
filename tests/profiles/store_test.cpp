#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "profiles/store_reader.h"
#include "profiles/store_writer.h"
#include "tests/profiles/named_run.h"
#include "tests/profiles/random_timeline.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

std::string words(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_text(problem);
  return text;
}

Result<std::int64_t> save(const std::string& path, const Timeline& timeline, const RunInfo& info,
                          IfExists if_exists = IfExists::Replace) {
  TRY(StoreWriter writer, StoreWriter::create(path, info, if_exists));
  TRY_VOID(replay(timeline, writer));
  TRY_VOID(writer.close());
  return writer.run_id();
}

Timeline load(const std::string& path, std::int64_t run) {
  auto reader = open_store(path);
  EXPECT_TRUE(reader) << words(reader.problems());
  if (!reader) return {};
  auto timeline = reader->load(run);
  EXPECT_TRUE(timeline) << words(timeline.problems());
  return timeline ? *std::move(timeline) : Timeline{};
}

RC_GTEST_PROP(Store, KeepsATimeline, ()) {
  const TempFolder folder;
  const Timeline timeline = random_timeline();
  const auto saved = save(folder / "a.sqlite", timeline, named("a"));
  RC_ASSERT(saved.has_value());
  RC_ASSERT(load(folder / "a.sqlite", 1) == timeline);
  RC_ASSERT(::access((folder / "a.sqlite.partial").c_str(), F_OK) != 0);
  RC_ASSERT(::access((folder / "a.sqlite.partial-wal").c_str(), F_OK) != 0);
}

RC_GTEST_PROP(Store, KeepsTheRunsOfOneFileApart, ()) {
  const TempFolder folder;
  const std::string path = folder / "a.sqlite";
  std::vector<Timeline> timelines;
  for (int i = 0; i < 3; ++i) {
    timelines.push_back(random_timeline());
    const auto saved = save(path, timelines.back(), named("run" + std::to_string(i)), IfExists::Append);
    RC_ASSERT(saved.has_value());
    RC_ASSERT(*saved == i + 1);
  }
  for (int i = 0; i < 3; ++i) RC_ASSERT(load(path, i + 1) == timelines[static_cast<std::size_t>(i)]);
}

RC_GTEST_PROP(Store, EqualInputGivesEqualBytes, ()) {
  const TempFolder folder;
  const Timeline timeline = random_timeline();
  for (const char* name : {"a", "b"}) {
    RC_ASSERT(save(folder / name, timeline, named("x")).has_value());
    RC_ASSERT(save(folder / name, timeline, named("y"), IfExists::Append).has_value());
  }
  RC_ASSERT(*read_file(folder / "a") == *read_file(folder / "b"));
}

// Longer than a chunk and a batch, so that chunks meet batches at odd places.
TEST(Store, KeepsManySlices) {
  Timeline timeline;
  const StringId name = timeline.intern("k");
  const TrackId a = timeline.add(Track{.name = "a"});
  const TrackId b = timeline.add(Track{.name = "b"});
  for (int i = 0; i < 150'000; ++i)
    timeline.add(Slice{.start = Time{i * 10}, .duration = Time{i % 9}, .track = i % 3 ? a : b, .name = name});
  const TempFolder folder;
  auto writer = StoreWriter::create(folder / "a", named("a"));
  ASSERT_TRUE(writer) << words(writer.problems());
  const std::string_view names[] = {"k"};
  ASSERT_TRUE(writer->on_names(names));
  ASSERT_TRUE(writer->on_tracks(timeline.tracks()));
  for (std::size_t at = 0; at < 150'000; at += 40'000)
    ASSERT_TRUE(writer->on_slices(timeline.slices().subspan(at, std::min<std::size_t>(40'000, 150'000 - at))));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(load(folder / "a", 1), timeline);
  EXPECT_EQ(open_store(folder / "a")->runs()[0].slices_count, 150'000U);
}

TEST(Store, KeepsWhatARunIs) {
  const TempFolder folder;
  RunInfo info{.label = "base",
               .kind = RunKind::Measured,
               .mode = "captured",
               .world_size = 8,
               .tool = "stave run",
               .tool_version = "0.1.0",
               .options_json = "{\"seed\": 1}",
               .schedule_text = "stave 1\n",
               .machine_text = "[machine]\n",
               .base_unix_ns = 1'700'000'000};
  ASSERT_TRUE(save(folder / "a", {}, info));
  RunInfo child = info;
  child.label = "edited";
  child.kind = RunKind::Predicted;
  child.parent_run = 1;
  child.edit = "link_bandwidth *= 2";
  ASSERT_TRUE(save(folder / "a", {}, child, IfExists::Append));
  auto reader = open_store(folder / "a");
  ASSERT_TRUE(reader);
  ASSERT_EQ(reader->runs().size(), 2U);
  EXPECT_EQ(reader->runs()[0].info, info);
  EXPECT_EQ(reader->runs()[1].info, child);
  EXPECT_EQ(reader->runs()[1].schedule_sha256, sha256("stave 1\n"));
  EXPECT_TRUE(reader->runs()[1].complete);
  EXPECT_TRUE(reader->problems().empty());
  EXPECT_EQ(reader->run_labelled("edited")->id, 2);
  EXPECT_EQ(reader->run_labelled("none").problems()[0].code, "STV0709");
  EXPECT_EQ(reader->load(3).problems()[0].code, "STV0709");
}

TEST(Store, RefusesATakenLabelAndAnUnknownParent) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder / "a", {}, named("x")));
  const std::string before = *read_file(folder / "a");
  EXPECT_EQ(save(folder / "a", {}, named("x"), IfExists::Append).problems()[0].code, "STV0708");
  RunInfo orphan = named("y");
  orphan.parent_run = 5;
  EXPECT_EQ(save(folder / "a", {}, orphan, IfExists::Append).problems()[0].code, "STV0709");
  EXPECT_EQ(*read_file(folder / "a"), before);
}

TEST(Store, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder / "a", {}, named("old")));
  {
    auto writer = StoreWriter::create(folder / "a", named("new"));
    ASSERT_TRUE(writer);
    EXPECT_EQ(open_store(folder / "a")->runs()[0].info.label, "old");
    ASSERT_TRUE(writer->close());
    EXPECT_EQ(writer->close().problems()[0].code, "STV0710");
  }
  EXPECT_EQ(open_store(folder / "a")->runs()[0].info.label, "new");
  auto given_up = StoreWriter::create(folder / "a", named("never"));
  ASSERT_TRUE(given_up);
  given_up->discard();
  EXPECT_NE(::access((folder / "a.partial").c_str(), F_OK), 0);
  EXPECT_EQ(open_store(folder / "a")->runs()[0].info.label, "new");
}

TEST(Store, AnErrorIsFinal) {
  const TempFolder folder;
  auto writer = StoreWriter::create(folder / "a", named("x"));
  ASSERT_TRUE(writer);
  const Slice lost{.track = TrackId{0U}, .name = StringId{0U}};
  EXPECT_EQ(writer->on_slices({&lost, 1}).problems()[0].code, "STV0707");
  EXPECT_EQ(writer->on_slices({}).problems()[0].code, "STV0710");
  EXPECT_EQ(writer->close().problems()[0].code, "STV0710");
  EXPECT_NE(::access((folder / "a").c_str(), F_OK), 0);
}

TEST(Store, TwoWritersOfOneNameDoNotPublishEachOthersFile) {
  const TempFolder folder;
  auto first = StoreWriter::create(folder / "a", named("first"));
  ASSERT_TRUE(first);
  auto second = StoreWriter::create(folder / "a", named("second"));
  ASSERT_TRUE(second);
  EXPECT_FALSE(first->close());
  ASSERT_TRUE(second->close());
  EXPECT_EQ(open_store(folder / "a")->runs()[0].info.label, "second");
}

TEST(Store, LeavesOutDetailsWhenAskedAndFindsArgsOfOneSlice) {
  Timeline timeline;
  const StringId name = timeline.intern("k");
  const SliceId slice = timeline.add(Slice{.track = timeline.add(Track{.name = "s"}), .name = name});
  timeline.add(KernelDetail{.slice = slice, .correlation = 4});
  timeline.add(ArgsDetail{slice, "{\"x\": 1}"});
  const TempFolder folder;
  ASSERT_TRUE(save(folder / "a", timeline, named("x")));
  ASSERT_TRUE(save(folder / "a", timeline, named("y"), IfExists::Append));
  auto reader = open_store(folder / "a");
  ASSERT_TRUE(reader);
  const auto light = reader->load(2, {.details = false, .args = false});
  ASSERT_TRUE(light);
  EXPECT_EQ(light->slices().size(), 1U);
  EXPECT_TRUE(light->kernels().empty());
  EXPECT_TRUE(light->args().empty());
  EXPECT_EQ(*reader->args_of(2, slice), "{\"x\": 1}");
  EXPECT_EQ(*reader->args_of(2, SliceId{2}), "");
}

// What another program sees. Without the sqlite3 program there is none to ask.
class StoreViews : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("sqlite3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "the sqlite3 program is not installed";
    Timeline timeline;
    const StringId kernel = timeline.intern("ampere_gemm");
    const StringId full = timeline.intern("void ampere_gemm<float>(float*)");
    const StringId copy = timeline.intern("Memcpy HtoD");
    const StringId clear = timeline.intern("Memset");
    const StringId launch = timeline.intern("cudaLaunchKernel");
    const StringId range = timeline.intern("step 0");
    timeline.add(RankInfo{.rank = 0, .rank_from = "test", .pid = 3});
    const TrackId stream = timeline.add(Track{.name = "stream 7", .device = 0, .context = 1, .stream = 7});
    const TrackId host = timeline.add(Track{.kind = TrackKind::Host, .name = "main", .thread = 5});
    const TrackId marks = timeline.add(Track{.kind = TrackKind::Range, .name = "ranges", .thread = 5});
    const TimelineCommandId command =
        timeline.add(TimelineCommand{.key = "main/gemm#1", .op = "gemm", .family = Family::Gemm});
    const SliceId call =
        timeline.add(Slice{.start = 1_us, .duration = 2_us, .track = host, .name = launch, .family = Family::HostApi});
    const SliceId gemm = timeline.add(Slice{.start = 5_us,
                                            .duration = 10_us,
                                            .track = stream,
                                            .name = kernel,
                                            .command = command,
                                            .step = StepNumber{0U},
                                            .family = Family::Gemm});
    const SliceId moved = timeline.add(Slice{.start = 20_us, .duration = 1_us, .track = stream, .name = copy});
    const SliceId cleared = timeline.add(Slice{.start = 30_us, .duration = 1_us, .track = stream, .name = clear});
    timeline.add(Slice{.start = 0_us, .duration = 40_us, .track = marks, .name = range, .family = Family::Mark});
    timeline.add(SliceFlow{call, gemm, FlowKind::Launch, Certainty::Recorded});
    timeline.add(ApiDetail{call, 42, 0});
    timeline.add(KernelDetail{.slice = gemm, .correlation = 42, .grid = LaunchDims{8, 1, 1}, .demangled_name = full});
    timeline.add(CopyDetail{.slice = moved, .correlation = 43, .bytes = 4096, .copy_kind = 1});
    timeline.add(CopyDetail{.slice = cleared, .memset = true, .bytes = 64, .memset_value = 0});
    // A predicted run before and after it: Nsight's names show the measured one.
    Timeline other;
    const StringId predicted = other.intern("predicted");
    const SliceId only = other.add(Slice{.track = other.add(Track{.name = "s"}), .name = predicted});
    other.add(KernelDetail{.slice = only});
    ASSERT_TRUE(save(path(), other, named("before")));
    ASSERT_TRUE(save(path(), timeline, named("real", RunKind::Measured), IfExists::Append));
    ASSERT_TRUE(save(path(), other, named("after"), IfExists::Append));
  }

  std::string path() const { return folder_ / "a.sqlite"; }
  std::string ask(const std::string& sql) const {
    const std::string command = "sqlite3 -readonly '" + path() + "' \"" + sql + "\" 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string answer;
    char piece[256];
    while (pipe && std::fgets(piece, sizeof piece, pipe)) answer += piece;
    if (pipe) ::pclose(pipe);
    return answer;
  }

 private:
  TempFolder folder_;
};

TEST_F(StoreViews, NsightNamesJoinAsInNsight) {
  EXPECT_EQ(ask("SELECT k.start, k.end, k.deviceId, k.streamId, s.value, d.value, k.gridX, k.blockX "
                "FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
                "JOIN StringIds d ON d.id = k.demangledName"),
            "5000|15000|0|7|ampere_gemm|void ampere_gemm<float>(float*)|8|\n");
  EXPECT_EQ(ask("SELECT r.start, s.value, r.globalTid, k.start FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
                "JOIN StringIds s ON s.id = r.nameId JOIN CUPTI_ACTIVITY_KIND_KERNEL k "
                "ON k.correlationId = r.correlationId AND k.globalPid = r.globalTid & ~16777215"),
            "1000|cudaLaunchKernel|50331653|5000\n");
  EXPECT_EQ(ask("SELECT start, end, bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"), "20000|21000|4096|1\n");
  EXPECT_EQ(ask("SELECT start, end, bytes, value FROM CUPTI_ACTIVITY_KIND_MEMSET"), "30000|31000|64|0\n");
  EXPECT_EQ(ask("SELECT start, end, eventType, text FROM NVTX_EVENTS"), "0|40000|59|step 0\n");
}

TEST_F(StoreViews, SlicesSpeakInWords) {
  EXPECT_EQ(ask("SELECT run, rank, track, name, family, step, command, op, start_us, duration_us FROM slices "
                "WHERE op = 'gemm'"),
            "real|0|stream 7|ampere_gemm|gemm|0|main/gemm#1|gemm|5.0|10.0\n");
  EXPECT_EQ(ask("SELECT run, count(*) FROM slices GROUP BY run"), "after|1\nbefore|1\nreal|5\n");
  EXPECT_EQ(ask("SELECT kind, certainty, t.name FROM flows f JOIN slices t ON t.slice_id = f.to_slice"),
            "launch|recorded|ampere_gemm\n");
  EXPECT_EQ(ask("SELECT count(*) FROM costs"), "0\n");
  EXPECT_EQ(ask("SELECT count(*) FROM collectives"), "0\n");
  EXPECT_EQ(ask("PRAGMA integrity_check"), "ok\n");
}

}  // namespace
}  // namespace stave
