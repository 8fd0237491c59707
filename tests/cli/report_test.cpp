// `stave report`, `stave compare` and `stave import` with what users have: the wrong file, hostile names, odd options.
#include <gtest/gtest.h>

#include "core/timeline/timeline.h"
#include "profiles/store_writer.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

bool store_as(const std::string& path, const Timeline& timeline, const RunInfo& info) {
  auto writer = StoreWriter::create(path, info);
  return writer && replay(timeline, *writer) && writer->close();
}

TEST(ReportProgram, TracesCannotDriveTheTerminal) {
  const Program stave;
  const std::string evil = "k\x1b]0;title\x07\n\x1b[31m";
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = evil, .device = 0, .stream = 1});
  const TrackId ranges = timeline.add(Track{.kind = TrackKind::Range, .name = evil});
  const StringId name = timeline.intern(evil);
  const Slice work{.start = Time{0}, .duration = Picoseconds{1'000'000}, .track = track, .name = name};
  timeline.add(CollectiveDetail{.slice = timeline.add(work), .communicator = name, .op = name, .ranks = 1});
  Slice range = work;
  range.track = ranges;
  timeline.add(range);
  timeline.add(TimelineProblem{.severity = Severity::Warning, .code = "STV0740", .message = evil, .file = evil});
  const std::string file = "evil\x1b[31m.sqlite";
  ASSERT_TRUE(store_as(stave / file, timeline, {.label = evil, .tool = "t", .tool_version = "1"}));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"report", file},
                                                    {"report", file, "--window", "range:" + evil},
                                                    {"report", file, "--window", evil},
                                                    {"report", file, "--html", "a\x1b[1m.html"},
                                                    {"report", "missing\x1b[31m"},
                                                    {"compare", file, file},
                                                    {"import", file, "-o", "x\x1b[31m.run"},
                                                    {"import", "examples/trace.json", "-o", "x\x1b[31m.run"},
                                                    {"export", file, "-o", "y\x1b[31m.json", "--yes"},
                                                    {"scrub", file, "-o", "z\x1b[31m.run", "--yes"}}) {
    const Ran ran = stave(arguments);
    EXPECT_EQ((ran.out + ran.err).find('\x1b'), std::string::npos)
        << ::testing::PrintToString(arguments) << ran.out << ran.err;
    EXPECT_EQ((ran.out + ran.err).find('\x07'), std::string::npos) << ::testing::PrintToString(arguments);
  }
}

TEST(ReportProgram, QuietPrintsErrorsOnly) {
  const Program stave;
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "main", .device = 0, .stream = 1});
  timeline.add(Slice{.start = Time{0}, .duration = Picoseconds{10}, .track = track, .name = timeline.intern("k")});
  timeline.add(TimelineProblem{.severity = Severity::Warning, .code = "STV0740", .message = "a warning"});
  ASSERT_TRUE(store_as(stave / "run.sqlite", timeline, {.label = "r", .tool = "t", .tool_version = "1"}));
  EXPECT_NE(stave({"report", "run.sqlite"}).err.find("a warning"), std::string::npos);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"report", "run.sqlite", "-q"}, {"compare", "run.sqlite", "run.sqlite", "-q"}}) {
    const Ran ran = stave(arguments);
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.out + ran.err, "");
  }
  const Ran above = stave({"report", "run.sqlite", "-q", "--fail-above", "makespan_ps=1"});
  EXPECT_EQ(above.exit, 1);
  EXPECT_EQ(above.err, "error: makespan_ps is 10 ps, above the limit of 1 ps [STV1901]\n");
}

TEST(ReportProgram, AFileForAnotherVerbNamesThatVerb) {
  const Program stave;
  const auto said = [&](const std::vector<std::string>& arguments) {
    const Ran ran = stave(arguments);
    EXPECT_EQ(ran.exit, 2) << ::testing::PrintToString(arguments);
    return ran.err;
  };
  EXPECT_NE(said({"report", "examples/trace.json"}).find("stave import examples/trace.json"), std::string::npos);
  write_text(stave / "empty", "");
  EXPECT_EQ(said({"import", "empty", "-o", "x.run"}), "empty: error: it is empty [STV0731]\n");
  EXPECT_EQ(said({"report", "empty"}).find("stave import"), std::string::npos);
  ASSERT_EQ(stave({"sim", "examples/all_reduce.stave", "-o", "run.sqlite"}).exit, 0);
  EXPECT_NE(
      said({"import", "run.sqlite", "-o", "x.run"}).find("it is a run file already; try: stave report run.sqlite"),
      std::string::npos);
}

TEST(ReportProgram, RowsAreACount) {
  const Program stave;
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"report", "a"}, {"compare", "a", "b"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--rows", "-1"});
    const Ran ran = stave(arguments);
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("--rows"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("[STV0901]"), std::string::npos) << ran.err;
  }
}

TEST(ReportProgram, AWindowBehindTheEndIsRefused) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/all_reduce.stave", "-o", "run.sqlite"}).exit, 0);
  const Ran ran = stave({"report", "run.sqlite", "--window", "5s..6s"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("nothing is there; the run goes from"), std::string::npos) << ran.err;
}

TEST(ReportProgram, PrintsTheExampleOfItsPage) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  const Ran ran = stave({"report", "ring.sqlite"});
  EXPECT_NE(file_text(STAVE_SOURCE_DIR "/docs/report.md").find("```\n" + ran.out + "```\n"), std::string::npos)
      << ran.out;
}

// Dense bars are pale too: waiting is striped.
TEST(ReportPicture, StripesAreWaits) {
  const Program stave;
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "main", .device = 0, .stream = 1});
  const StringId name = timeline.intern("all_reduce");
  const SliceId slice = timeline.add(Slice{.start = Time{0},
                                           .duration = Picoseconds{1'000'000},
                                           .track = track,
                                           .name = name,
                                           .family = Family::Collective});
  timeline.add(CollectiveDetail{
      .slice = slice, .communicator = name, .op = name, .ranks = 2, .arrival_wait = Picoseconds{400'000}});
  timeline.add(Slice{.start = Time{2'000'000}, .duration = Picoseconds{10}, .track = track, .name = name});
  ASSERT_TRUE(store_as(stave / "run.sqlite", timeline, {.label = "r", .tool = "t", .tool_version = "1"}));
  ASSERT_EQ(stave({"export", "run.sqlite", "-o", "run.svg"}).exit, 0);
  const std::string svg = file_text(stave / "run.svg");
  for (const char* part : {"fill: url(#stripes)", "<pattern id=\"stripes\"", "<rect class=\"waits\"", " thin\">",
                           ">waits for its peers</text>"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
}

// A command's own name is its label; what runs on hosts keeps its own. Nothing waits here.
TEST(ReportPicture, BarsAreNamedAsTheCommandsAre) {
  const Program stave;
  Timeline timeline;
  const TrackId stream = timeline.add(Track{.name = "main", .device = 0, .stream = 1}),
                host = timeline.add(Track{.kind = TrackKind::Host, .name = "host"});
  const TimelineCommandId command =
      timeline.add(TimelineCommand{.key = "backward/wgrad", .op = "gemm", .family = Family::Gemm});
  const auto add = [&](TrackId track, const char* name, Family family, TimelineCommandId of) {
    timeline.add(Slice{.start = Time{0},
                       .duration = Picoseconds{1'000'000},
                       .track = track,
                       .name = timeline.intern(name),
                       .command = of,
                       .family = family});
  };
  add(stream, "gemm", Family::Gemm, command);
  add(stream, "all_reduce", Family::Collective, {});
  add(host, "launch", Family::HostApi, command);
  ASSERT_TRUE(store_as(stave / "run.sqlite", timeline, {.label = "r", .tool = "t", .tool_version = "1"}));
  ASSERT_EQ(stave({"export", "run.sqlite", "-o", "run.svg"}).exit, 0);
  const std::string svg = file_text(stave / "run.svg");
  for (const char* label : {">wgrad</text>", ">all_reduce</text>", ">launch</text>", "backward/wgrad\ngemm\n"})
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  EXPECT_EQ(svg.find(">gemm</text>", svg.find("<g transform")), svg.rfind(">gemm</text>"));  // in the legend
  EXPECT_EQ(svg.find("waits for its peers"), std::string::npos);
}

TEST(ImportProgram, ADamagedFileIsSaidFirstAndOnce) {
  const Program stave;
  std::string json = "{\"traceEvents\": [";
  for (int i = 0; i < 20000; ++i)
    json += "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op" + std::to_string(i * 7919 % 10007) +
            "\", \"pid\": 1, \"tid\": 1, \"ts\": " + std::to_string(i) + ", \"dur\": 1},\n";
  write_text(stave / "cut.json", json + "{}]}");
  ASSERT_EQ(std::system(("gzip " + quoted_for_shell(stave / "cut.json")).c_str()), 0);
  std::filesystem::resize_file(stave / "cut.json.gz", std::filesystem::file_size(stave / "cut.json.gz") / 2);
  const Ran ran = stave({"import", "cut.json.gz", "-o", "cut.run"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.err.starts_with("cut.json.gz: warning: damaged: the gzip data ends too early")) << ran.err;
  EXPECT_NE(ran.err.find("no kernels were recorded"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("damaged: damaged"), std::string::npos) << ran.err;
}

TEST(ReportPage, OfHostsAloneDrawsNoEmptyCharts) {
  const Program stave;
  Timeline timeline;
  const TrackId host = timeline.add(Track{.rank = 34, .kind = TrackKind::Host, .name = "thread 1"});
  timeline.add(Slice{.start = Time{0}, .duration = Picoseconds{1000}, .track = host, .name = timeline.intern("op")});
  ASSERT_TRUE(store_as(stave / "host.sqlite", timeline, {.label = "h", .tool = "t", .tool_version = "1"}));
  ASSERT_EQ(stave({"report", "host.sqlite", "--html", "all.html", "-q"}).exit, 0);
  const std::string page = file_text(stave / "all.html");
  EXPECT_NE(page.find("No work on a device."), std::string::npos);
  for (const char* part : {"<canvas", "<script", "What each rank", "<h2>Ranks</h2>"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  ASSERT_EQ(stave({"report", "host.sqlite", "--html", "all.html", "-q", "--window", "0ps..1ns"}).exit, 0);
  EXPECT_NE(file_text(stave / "all.html").find("<canvas"), std::string::npos);
}

TEST(ReportPage, SaysWhoseReportItIsAndWhichFileAProblemIsOf) {
  const Program stave;
  Timeline timeline;
  const TrackId track = timeline.add(Track{.rank = 3, .name = "main", .device = 0, .stream = 1});
  timeline.add(Slice{.start = Time{0},
                     .duration = Picoseconds{1000},
                     .track = track,
                     .name = timeline.intern("void " + std::string(900, 'k'))});
  timeline.add(TimelineProblem{.severity = Severity::Warning, .code = "STV0740", .message = "odd", .file = "t.json"});
  ASSERT_TRUE(
      store_as(stave / "run.sqlite", timeline,
               {.label = "imported", .kind = RunKind::Imported, .world_size = 8, .tool = "t", .tool_version = "1"}));
  ASSERT_EQ(stave({"report", "run.sqlite", "--html", "page.html", "-q"}).exit, 0);
  const std::string page = file_text(stave / "page.html");
  for (const char* part : {"<h1>imported (run.sqlite)</h1>", "imported, rank 3 of 8", "t.json: warning: odd [STV0740]",
                           "<td class=\"clipped\" title=\"void kkk"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const Json json(stave({"report", "run.sqlite", "--json"}).out);
  EXPECT_EQ(json.at("$.run.ranks_count"), "1");
  EXPECT_EQ(json.at("$.run.world_ranks_count"), "8");
}

}  // namespace
}  // namespace stave
