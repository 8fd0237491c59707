// Files that broke other tools: each mistake costs at most one event, is
// counted with its place, and reading goes on behind it.
#include "tests/profiles/import/imported.h"

namespace stave {
namespace {

const std::string before = call(1, "0") + ",\n" + kernel("before", 1, "10", "50") + ",\n";
const std::string after = ",\n" + call(2, "70") + ",\n" + kernel("after", 2, "100", "5");

// The event between two good ones; both of them are read, whatever it is.
struct Fault {
  const char* what;
  std::string event;
  const char* code;
  bool kept;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.what; }

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, CostsAtMostOneEvent) {
  const Fault& fault = GetParam();
  const ImportedTimeline trace = import_text(kineto(before + fault.event + after));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("before").duration, 50_us);
  EXPECT_EQ(trace.slice("after").duration, 5_us);
  EXPECT_GE(trace.count(fault.code), 1) << ::testing::PrintToString(trace.names());
  const std::int64_t place = trace.byte(fault.code);
  const auto start = static_cast<std::int64_t>(kineto(before).find(before) + before.size());
  EXPECT_GE(place, start);
  EXPECT_LE(place, start + static_cast<std::int64_t>(fault.event.size()));
  EXPECT_EQ(trace.timeline.slices().size(), fault.kept ? 5u : 4u) << ::testing::PrintToString(trace.names());
  const std::string code = fault.code;
  EXPECT_EQ(trace.report.data_lost, code == "STV0740" || code == "STV0745" || code == "STV0748");
}

const std::string plain = kernel("k", 1, "61", "1");
std::string replaced(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

INSTANTIATE_TEST_SUITE_P(
    Kineto, Faults,
    ::testing::Values(
        Fault{"negative_duration", kernel("k", 1, "61", "-3.0"), "STV0743", true},
        Fault{"unsigned_wrap", kernel("k", 1, "61", "18446744073709551.615"), "STV0743", true},
        Fault{"zero_duration", kernel("k", 1, "61", "0"), "STV0744", true},
        Fault{"inf", kernel("k", 1, "61", "1", 7, R"x(, "memory bandwidth (GB/s)": inf)x"), "STV0742", true},
        Fault{"nan", kernel("k", 1, "61", "1", 7, R"(, "blocks per SM": NaN)"), "STV0742", true},
        Fault{"not_a_word", kernel("k", 1, "61", "1", 7, R"(, "blocks per SM": N/A)"), "STV0742", true},
        Fault{"nan_time", kernel("k", 1, "NaN", "1"), "STV0745", false},
        Fault{"minus_twice", kernel("k", 1, "-1.-500", "1"), "STV0745", false},
        Fault{"other_age", kernel("k", 1, "1712867402348628.0", "1"), "STV0745", false},
        Fault{"not_utf8", kernel("config.py: \xff\xfe\xc0", 1, "61", "1"), "STV0742", true},
        Fault{"control_character", kernel("bad\x01name\nx", 1, "61", "1"), "STV0742", true},
        Fault{"backslash", kernel("C:\\Users\\x", 1, "61", "1"), "STV0742", true},
        Fault{"backslash_before_quote", kernel("C:\\dir\\", 1, "61", "1"), "STV0740", false},
        Fault{"quote_in_name", kernel("fn {\"device\": \"cpu\"}", 1, "61", "1"), "STV0740", false},
        Fault{"two_writers", plain.substr(0, 30) + plain, "STV0740", true},
        Fault{"cut_within", plain.substr(0, plain.size() / 2), "STV0740", false},
        Fault{"missing_brace", plain.substr(0, plain.size() - 1), "STV0740", false},
        Fault{"no_object", "17", "STV0740", false}, Fault{"no_phase", R"({"name": "x", "ts": 61})", "STV0740", false},
        Fault{"too_deep", R"({"ph": "X", "name": "k", "args": )" + std::string(200, '[') + "}", "STV0740", false},
        Fault{"orphan", kernel("k", 77, "61", "1"), "STV0746", true},
        Fault{"before_its_launch", kernel("k", 2, "61", "1"), "STV0749", true},
        Fault{"end_without_begin", R"({"ph": "E", "pid": 1, "tid": 2, "ts": 61})", "STV0748", false},
        Fault{"begin_without_end", R"({"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 61})", "STV0748", false}),
    [](const auto& info) { return info.param.what; });

TEST(KinetoFaults, OverlapsGetLanes) {
  const ImportedTimeline trace =
      import_text(kineto(call(1, "0") + "," + kernel("second", 1, "57.0", "20") + "," + kernel("first", 1, "10", "50") +
                         "," + kernel("third", 1, "77", "1")));
  EXPECT_EQ(trace.report.overlaps, 1);
  EXPECT_EQ(trace.count("STV0747"), 1);
  EXPECT_NE(trace.slice("first").lane, trace.slice("second").lane);
  EXPECT_EQ(trace.slice("third").lane, 0);
  EXPECT_FALSE(trace.report.data_lost);
}

TEST(KinetoFaults, OneEndThatCoversItsSuccessors) {
  std::string events = call(1, "0") + "," + kernel("long", 1, "10", "2000000");
  for (int i = 0; i < 8; ++i) events += "," + kernel("k", 1, std::to_string(20 + 10 * i), "5");
  EXPECT_EQ(import_text(kineto(events)).count("STV0765"), 1);
}

TEST(KinetoFaults, TruncatedAnywhereKeepsWholeEvents) {
  std::string events = before + plain;
  for (int i = 0; i < 20; ++i) events += ",\n" + kernel("k" + std::to_string(i), 1, std::to_string(200 + i), "1");
  const std::string text = kineto(events);
  const std::size_t end = text.find("\n], ");
  for (std::size_t length = text.find("{\"ph\""); length < end; length += 7) {
    const ImportedTimeline trace = import_text(text.substr(0, length));
    if (trace.code() == "STV0731") continue;  // not one whole event yet
    ASSERT_EQ(trace.code(), "") << length;
    EXPECT_EQ(trace.count("STV0741"), 1) << length;
    EXPECT_TRUE(trace.report.data_lost);
    std::size_t whole = 0;
    for (std::size_t at = text.find("}}"); at != std::string::npos && at + 2 <= length; at = text.find("}}", at + 2))
      ++whole;
    EXPECT_EQ(trace.timeline.slices().size(), whole) << length;
  }
}

TEST(KinetoFaults, AbsoluteTimesKeepTheirNanoseconds) {
  const ImportedTimeline trace = import_text(kineto(kernel("a", 1, "1712867402348640.001", "0.4") + "," +
                                                    kernel("b", 2, "1712867402348640.402", "\"0.4\"") + "," +
                                                    kernel("c", 2, "1.712867402348641002e15", "0.002")));
  EXPECT_EQ(trace.slice("a").start, 0_ps);
  EXPECT_EQ(trace.slice("a").duration, 400_ns);
  EXPECT_EQ(trace.slice("b").start, 401_ns);
  EXPECT_EQ(trace.slice("b").duration, 400_ns);
  EXPECT_EQ(trace.slice("c").start, 1001_ns);
  EXPECT_EQ(trace.slice("c").duration, 2_ns);
  EXPECT_EQ(trace.report.overlaps, 0);
  EXPECT_EQ(trace.run.base_unix_ns, 1712867402348640001);
}

TEST(KinetoFaults, TheBaseMayStandBehindTheEvents) {
  std::string text = kineto(kernel("a", 1, "5.5", "1"));
  text.replace(text.rfind("\"traceName\""), 0, "\"baseTimeNanoseconds\": 1700000000000000000, ");
  EXPECT_EQ(import_text(text).run.base_unix_ns, 1700000000000005500);
}

TEST(KinetoFaults, OldCategoriesAndNames) {
  const ImportedTimeline trace = import_text(
      R"({"traceEvents": [{"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": "100", "tid": "101", "ts": 0, "dur": 5, "args": {"correlation": 1}},
         {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 10, "dur": 5, "args": {"correlation": 1}}]})");
  EXPECT_EQ(trace.report.kernels, 1);
  EXPECT_EQ(trace.report.orphans, 0);
  EXPECT_EQ(trace.timeline.track(trace.slice("k").track).stream, 7);
}

TEST(KinetoFaults, AListMayStayOpen) {
  const ImportedTimeline trace = import_text("[" + before + plain + ",");
  EXPECT_EQ(trace.report.kernels, 2);
  EXPECT_FALSE(trace.report.data_lost);
}

TEST(KinetoFaults, WaitsAreNoWork) {
  const std::string sync =
      R"(,{"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 20, "dur": 60, "args": {"stream": 7, "correlation": 9, "device": 0}},
      {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": -1, "ts": 90, "dur": 6, "args": {"stream": -1, "correlation": 10, "device": 0}})";
  const ImportedTimeline trace = import_text(kineto(before + plain + sync));
  for (const std::string name : {"Stream Sync", "Context Sync"}) {
    EXPECT_EQ(trace.timeline.track(trace.slice(name).track).kind, TrackKind::Host);
    EXPECT_EQ(trace.slice(name).family, Family::Stream);
  }
  EXPECT_EQ(trace.report.overlaps, 0);
}

TEST(KinetoFaults, WideCorrelationIdsStayApart) {
  const ImportedTimeline trace = import_text(
      kineto(call(5, "0", "2", "first") + "," + replaced(call(5, "10", "2", "second"), ": 5}", ": 4294967301}") + "," +
             kernel("a", 5, "20", "1") + "," + replaced(kernel("b", 5, "30", "1"), ": 5}", ": 4294967301}")));
  ASSERT_EQ(trace.timeline.flows().size(), 2u);
  for (const SliceFlow& flow : trace.timeline.flows()) {
    const bool first = trace.timeline.text(trace.timeline.slice(flow.from).name) == "first";
    EXPECT_EQ(trace.timeline.text(trace.timeline.slice(flow.to).name), first ? "a" : "b");
  }
}

TEST(KinetoFaults, CorrelationZeroJoinsNothing) {
  const ImportedTimeline trace =
      import_text(kineto(call(0, "0") + "," + kernel("a", 0, "20", "1") + "," + kernel("b", 0, "30", "1")));
  EXPECT_EQ(trace.report.orphans, 2);
  EXPECT_EQ(trace.report.flows, 0);
}

TEST(KinetoFaults, OneIdForTwoCallsIsTold) {
  const ImportedTimeline trace = import_text(
      kineto(call(5, "0", "2", "first") + "," + call(5, "4", "2", "last") + "," + kernel("a", 5, "20", "1")));
  EXPECT_EQ(trace.count("STV0750"), 1);
  ASSERT_EQ(trace.report.flows, 1);
  EXPECT_EQ(trace.timeline.text(trace.timeline.slice(trace.timeline.flows()[0].from).name), "last");
}

TEST(KinetoFaults, NoGpuWorkIsTold) { EXPECT_EQ(import_text(kineto(call(1, "0"))).count("STV0752"), 1); }

TEST(KinetoFaults, NothingToRead) {
  EXPECT_EQ(import_text("{\"traceEvents\": []}").code(), "STV0731");
  EXPECT_EQ(import_text("{\"traceEvents\": [nan, nan]}").code(), "STV0731");
  EXPECT_EQ(import_text("").code(), "STV0730");
  EXPECT_EQ(import_text("stave 1\n").code(), "STV0730");
  EXPECT_EQ(import_text("{\"a\": 1}").code(), "STV0730");
}

TEST(KinetoFaults, ALongEventIsNoLimit) {
  const std::string name(3 << 20, 'n');
  const ImportedTimeline trace = import_text(kineto(before + kernel(name, 1, "61", "1") + after));
  EXPECT_EQ(trace.report.kernels, 3);
  EXPECT_EQ(trace.slice(name).duration, 1_us);
}

TEST(KinetoFaults, EventsAcrossPiecesAreWhole) {
  std::string events = call(1, "0");
  for (int i = 0; i < 20000; ++i) events += ",\n" + kernel("k" + std::to_string(i % 7), 1, std::to_string(10 + i), "1");
  const ImportedTimeline trace = import_text(kineto(events));
  EXPECT_EQ(trace.report.kernels, 20000);
  EXPECT_EQ(trace.report.flows, 20000);
  EXPECT_TRUE(trace.report.problems.empty());
}

}  // namespace
}  // namespace stave
