// `stave report --html`, `stave compare --html`: one page that needs nothing else and believes no name.
#include <gtest/gtest.h>

#include "core/timeline/timeline.h"
#include "profiles/store_writer.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(ReportHtml, HasTheNumbersOfTheReportAndNothingFromOutside) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  const Ran ran = stave({"report", "ring.sqlite", "--html", "ring.html"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("written to ring.html"), std::string::npos);
  const std::string page = file_text(stave / "ring.html");
  for (const char* part :
       {"726.028 µs", "95.9 %", "ring_matmul/gemm#2[s=1]", "<h2>Critical path</h2>", "<h2>Collectives</h2>",
        "prefers-color-scheme: dark", "default-src 'none'", "script-src 'sha256-"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* part : {"http:", "https:", "src=", "@import", "url(", "unsafe", "localStorage", "style=\""})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  ASSERT_EQ(stave({"report", "ring.sqlite", "--html", "again.html"}).exit, 0);
  EXPECT_EQ(page, file_text(stave / "again.html"));
}

TEST(ReportHtml, HostileNamesStayText) {
  const Program stave;
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"x\xff\x01";
  RunInfo info{.label = evil, .tool = "t", .tool_version = "1"};
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = evil, .device = 0, .stream = 1});
  const TrackId ranges = timeline.add(Track{.kind = TrackKind::Range, .name = evil});
  const SliceId slice = timeline.add(Slice{.start = Time{0},
                                           .duration = Picoseconds{1'000'000},
                                           .track = track,
                                           .name = timeline.intern(evil),
                                           .family = Family::Collective});
  timeline.add(
      Slice{.start = Time{0}, .duration = Picoseconds{1'000'000}, .track = ranges, .name = timeline.intern(evil)});
  timeline.add(
      CollectiveDetail{.slice = slice, .communicator = timeline.intern(evil), .op = timeline.intern(evil), .ranks = 1});
  timeline.add(TimelineProblem{.code = "STV0740", .message = evil});
  auto writer = StoreWriter::create(stave / "evil.sqlite", info);
  ASSERT_TRUE(writer && replay(timeline, *writer) && writer->close());
  ASSERT_EQ(stave({"report", "evil.sqlite", "--html", "evil.html", "--quiet"}).exit, 0);
  ASSERT_EQ(stave({"compare", "evil.sqlite", "evil.sqlite", "--html", "both.html", "--quiet"}).exit, 0);
  for (const char* file : {"evil.html", "both.html"}) {
    const std::string page = file_text(stave / file);
    EXPECT_EQ(count_of(page, "<script"), 2u) << file;  // the data and our own
    EXPECT_EQ(count_of(page, "</script>"), 2u) << file;
    EXPECT_EQ(count_of(page, "<img"), 0u) << file;
    EXPECT_EQ(count_of(page, "onload=\""), 0u) << file;
    EXPECT_GT(count_of(page, "&lt;/script&gt;"), 3u) << file;
  }
}

TEST(ReportHtml, ManySlicesStandTogetherAndThePageSaysSo) {
  const Program stave;
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "stream", .device = 0, .stream = 1});
  const StringId name = timeline.intern("k");
  for (std::int64_t i = 0; i < 250'000; ++i)
    timeline.add(Slice{.start = Time{i * 10'000}, .duration = Picoseconds{9'000}, .track = track, .name = name});
  auto writer = StoreWriter::create(stave / "many.sqlite", {.label = "many", .tool = "t", .tool_version = "1"});
  ASSERT_TRUE(writer && replay(timeline, *writer) && writer->close());
  ASSERT_EQ(stave({"report", "many.sqlite", "--html", "many.html", "--quiet"}).exit, 0);
  const std::string page = file_text(stave / "many.html");
  EXPECT_NE(page.find("The window has 250000 slices."), std::string::npos);
  EXPECT_LT(page.size(), 2'000'000u);
}

TEST(ReportHtml, FailsWhereItCannotBeWritten) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  EXPECT_EQ(stave({"report", "ring.sqlite", "--html", "no/folder/x.html", "--json"}).exit, 3);
}

TEST(CompareHtml, HasTheWaterfallAndBothTimelines) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "--mode", "captured", "-o", "captured.sqlite"}).exit, 0);
  const Ran ran = stave({"compare", "captured.sqlite", "ring.sqlite", "--html", "page.html"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("written to page.html"), std::string::npos);
  const std::string page = file_text(stave / "page.html");
  for (const char* part :
       {"<h2>What the difference is made of</h2>", "<h2>Matched work</h2>", "\"run\":\"A\",\"rank\":1",
        "\"run\":\"B\",\"rank\":1", ">726.028 µs<", "default-src 'none'"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* part : {"http:", "https:", "src=", "@import", "url(", "unsafe", "localStorage", "style=\""})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace stave
