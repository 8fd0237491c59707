// Perfetto's packets; the numbers of fields are those of its .proto files.
#include "tests/profiles/import/imported.h"
#include "tests/profiles/import/wire.h"

namespace stave::perfetto_bytes {
namespace {

using wire::field;
using wire::fixed;
using wire::real;
using wire::varint;

// A packet of sequence 1.
std::string packet(const std::string& content, std::uint64_t sequence = 1) {
  return field(1, content + field(10, sequence));
}
std::string at(std::uint64_t ns, const std::string& event, std::uint64_t sequence = 1) {
  return packet(field(8, ns) + field(11, event), sequence);
}
std::string begin(std::uint64_t track, std::uint64_t ns, const std::string& name, const std::string& more = "") {
  return at(ns, field(9, 1) + field(11, track) + field(23, name) + more);
}
std::string end(std::uint64_t track, std::uint64_t ns, const std::string& more = "") {
  return at(ns, field(9, 2) + field(11, track) + more);
}
std::string slice(std::uint64_t track, std::uint64_t from, std::uint64_t to, const std::string& name,
                  const std::string& more = "") {
  return begin(track, from, name, more) + end(track, to);
}
std::string category(const std::string& name) { return field(22, name); }
std::string annotation(const std::string& name, const std::string& value) { return field(4, field(10, name) + value); }

// A process with a thread, a stream of GPU 0 and a counter.
const std::string tracks =
    packet(field(60, field(1, 1) + field(3, field(1, 100) + field(6, "trainer")))) +
    packet(field(60, field(1, 2) + field(5, 1) + field(4, field(1, 100) + field(2, 101) + field(5, "main")))) +
    packet(field(60, field(1, 10) + field(5, 1) + field(2, "GPU 0"))) +
    packet(field(60, field(1, 11) + field(5, 10) + field(2, "stream 7"))) +
    packet(field(60, field(1, 12) + field(5, 10) + field(2, "stream 7 (lane 1)"))) +
    packet(field(60, field(1, 14) + field(5, 10) + field(2, "memory") + field(8, field(3, 3))));

ImportedTimeline import_perfetto(const std::string& bytes, const std::string& name = "trace.pftrace") {
  const TempFolder folder;
  write_bytes(folder / name, bytes);
  return import_files({folder / name});
}

TEST(Perfetto, SlicesArrowsCountersAndArguments) {
  const ImportedTimeline trace =
      import_perfetto(tracks +
                      slice(2, 1'000'000, 1'004'000, "cudaLaunchKernel",
                            category("cuda_runtime") + annotation("correlation", field(4, 5)) + fixed(47, 77)) +
                      slice(11, 1'009'000, 1'059'000, "gemm",
                            category("kernel") + annotation("correlation", field(4, 5)) +
                                annotation("grid", field(6, "8 x 2 x 1")) + fixed(48, 77)) +
                      slice(12, 1'057'000, 1'066'000, "finalize", category("kernel")) +
                      at(1'009'000, field(9, 4) + field(11, 14) + field(30, 1024)) +
                      at(1'010'000, field(9, 4) + field(11, 14) + real(44, 0.5)) +
                      at(1'011'000, field(9, 3) + field(11, 2) + field(23, "mark")));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.kernels, 2);
  EXPECT_EQ(trace.report.calls, 1);
  EXPECT_EQ(trace.report.orphans, 1);
  EXPECT_EQ(trace.report.overlaps, 1);
  EXPECT_EQ(trace.flows(FlowKind::Launch, Certainty::Recorded), 1);
  EXPECT_FALSE(trace.report.data_lost);
  const Slice& gemm = trace.slice("gemm");
  EXPECT_EQ(gemm.start, 9_us);
  EXPECT_EQ(gemm.duration, 50_us);
  EXPECT_EQ(gemm.family, Family::Gemm);
  const Track& stream = trace.timeline.track(gemm.track);
  EXPECT_EQ(stream.name, "GPU 0 stream 7");
  EXPECT_EQ(stream.device, 0);
  EXPECT_EQ(stream.stream, 7);
  // Lanes that the file shows as tracks are lanes here.
  EXPECT_EQ(trace.slice("finalize").track, gemm.track);
  EXPECT_EQ(trace.slice("finalize").lane, 1);
  EXPECT_EQ(trace.timeline.kernels()[0].grid, (LaunchDims{8, 2, 1}));
  EXPECT_EQ(trace.timeline.kernels()[0].correlation, 5);
  EXPECT_EQ(trace.timeline.args()[0].json, R"({"correlation": 5})");
  const Slice& call = trace.slice("cudaLaunchKernel");
  EXPECT_EQ(trace.timeline.track(call.track).kind, TrackKind::Host);
  EXPECT_EQ(trace.timeline.track(call.track).name, "main");
  EXPECT_EQ(trace.timeline.track(call.track).thread, 101);
  ASSERT_EQ(trace.timeline.counters().size(), 2u);
  EXPECT_EQ(trace.timeline.counters()[0].value, 1024);
  EXPECT_EQ(trace.timeline.counters()[1].value, 0.5);
  EXPECT_EQ(trace.timeline.track(trace.timeline.counters()[0].track).unit, "bytes");
  EXPECT_EQ(trace.slice("mark").duration, 0_ps);
}

TEST(Perfetto, NamesBelongToTheirSequenceUntilItIsCleared) {
  const auto named = [](std::uint64_t ns, std::uint64_t iid, std::uint64_t sequence) {
    return at(ns, field(9, 1) + field(11, 2) + field(10, iid), sequence) +
           at(ns + 100, field(9, 2) + field(11, 2), sequence);
  };
  const auto interned = [](const std::string& name, std::uint64_t sequence) {
    return packet(field(13, 1) + field(12, field(2, field(1, 1) + field(2, name))), sequence);
  };
  const ImportedTimeline trace =
      import_perfetto(tracks + interned("first", 1) + interned("other", 2) + named(1000, 1, 1) + named(2000, 1, 2) +
                      packet(field(13, 1), 1) + named(3000, 1, 1) + interned("second", 1) + named(4000, 1, 1));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.names(), (std::vector<std::string>{"first", "other", "#1", "second"}));
  EXPECT_EQ(trace.count("STV0771"), 1);
  EXPECT_FALSE(trace.report.data_lost);
}

TEST(Perfetto, DefaultsAndClocksOfASequence) {
  // Clock 64 counts microseconds from one packet to the next; 6 is the trace's, 1 that of the date.
  const std::string clocks = field(6, field(1, field(1, 6) + field(2, 5'000'000)) +
                                          field(1, field(1, 1) + field(2, 1'700'000'000'000'000'000)) +
                                          field(1, field(1, 64) + field(2, 0) + field(3, 1) + field(4, 1000)));
  const std::string defaults = field(59, field(58, 64) + field(11, field(11, 2)));
  const ImportedTimeline trace =
      import_perfetto(tracks + packet(clocks + defaults + field(13, 1)) + at(10, field(9, 1) + field(23, "a")) +
                      at(5, field(9, 2)) + at(5, field(9, 1) + field(23, "b")) + at(1, field(9, 2)));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("a").start, 0_us);
  EXPECT_EQ(trace.slice("a").duration, 5_us);
  EXPECT_EQ(trace.slice("b").start, 10_us);
  EXPECT_EQ(trace.slice("b").duration, 1_us);
  EXPECT_EQ(trace.timeline.track(trace.slice("a").track).name, "main");
  EXPECT_EQ(trace.run.base_unix_ns, 1'700'000'000'000'010'000);
}

TEST(Perfetto, RenderStagesAreKernels) {
  const std::string names =
      field(12, field(24, field(1, 1) + field(2, "stream 20")) + field(24, field(1, 3) + field(2, "Kernel")) +
                    field(23, field(1, 9) + field(2, 100)) +
                    field(1000, field(1, 4) + field(2, "_Z4gemm") + field(3, "gemm(int)")) +
                    field(2, field(1, 1) + field(2, "Memcpy HtoD")));
  const auto stage = [](std::uint64_t ns, const std::string& event) {
    return packet(field(8, ns) + field(53, field(13, 1) + field(14, 3) + field(5, 9) + field(11, 2) + event));
  };
  const ImportedTimeline trace = import_perfetto(
      tracks + packet(names + field(13, 1)) +
      stage(1000, field(1, 1) + field(2, 50'000) + field(19, 4) +
                      field(21, field(1, field(1, 148) + field(2, 2) + field(3, 1)) + field(2, field(1, 384)) +
                                    field(3, field(2, "registers_per_thread") + field(4, 32)))) +
      stage(52'000, field(1, 2) + field(2, 9'000) + field(20, 1) + field(18, 1)));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.kernels, 1);
  EXPECT_EQ(trace.report.copies, 1);
  const Slice& kernel = trace.slice("_Z4gemm");
  EXPECT_EQ(kernel.duration, 50_us);
  EXPECT_EQ(trace.timeline.track(kernel.track).device, 2);
  EXPECT_EQ(trace.timeline.track(kernel.track).stream, 20);
  const KernelDetail& detail = trace.timeline.kernels()[0];
  EXPECT_EQ(trace.timeline.text(detail.demangled_name), "gemm(int)");
  EXPECT_EQ(detail.grid, (LaunchDims{148, 2, 1}));
  EXPECT_EQ(detail.block, (LaunchDims{384, 1, 1}));
  EXPECT_EQ(detail.registers_per_thread, 32u);
  EXPECT_EQ(trace.flows(FlowKind::Event, Certainty::Recorded), 1);
}

TEST(Perfetto, ProcessesNamedByRankAreRanks) {
  std::string bytes;
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    bytes += packet(
        field(60, field(1, 100 + rank) + field(3, field(1, 50 + rank) + field(6, "rank " + std::to_string(rank)))));
    bytes += packet(
        field(60, field(1, 200 + rank) + field(5, 100 + rank) + field(2, "GPU " + std::to_string(rank) + " stream 1")));
    bytes += slice(200 + rank, 1000 + 500 * rank, 3000, "ncclDevKernel_AllReduce",
                   category("collective") + annotation("step", field(4, 3)));
  }
  const ImportedTimeline trace = import_perfetto(bytes);
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.ranks, 2u);
  EXPECT_EQ(trace.run.world_size, 2u);
  EXPECT_EQ(trace.timeline.ranks()[1].rank_from, "process name");
  EXPECT_EQ(trace.timeline.slices()[0].step, StepNumber{3});
  ASSERT_EQ(trace.timeline.collectives().size(), 2u);
  EXPECT_EQ(trace.timeline.collectives()[0].arrival_wait, 500_ns);
  EXPECT_EQ(trace.timeline.collectives()[1].arrival_wait, 0_ns);
  EXPECT_EQ(trace.timeline.collectives()[1].transfer, 1500_ns);
}

TEST(Perfetto, CompressedPacketsAndGzip) {
  const std::string inner = slice(2, 1000, 2000, "packed");
  std::string packed(compressBound(inner.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(inner.data()),
                     inner.size()),
            Z_OK);
  packed.resize(size);
  const ImportedTimeline trace = import_perfetto(gzipped(tracks + packet(field(50, packed))), "trace.pftrace.gz");
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("packed").duration, 1_us);
}

// Between two good slices; both of them are read, whatever it is.
struct PacketFault {
  const char* what;
  std::string bytes;
  const char* code;
  std::size_t slices;
};
std::ostream& operator<<(std::ostream& out, const PacketFault& fault) { return out << fault.what; }
class PerfettoFaults : public ::testing::TestWithParam<PacketFault> {};

TEST_P(PerfettoFaults, CostAtMostOnePacket) {
  const PacketFault& fault = GetParam();
  const std::string before = tracks + slice(2, 1000, 2000, "before");
  const ImportedTimeline trace =
      import_perfetto(before + fault.bytes + slice(2, 9000, 9500, "after") + slice(2, 9600, 9700, "last"));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("before").duration, 1_us);
  EXPECT_EQ(trace.slice("after").duration, 500_ns);
  EXPECT_EQ(trace.timeline.slices().size(), fault.slices) << ::testing::PrintToString(trace.names());
  if (*fault.code == '\0') {
    EXPECT_EQ(trace.report.problems.size(), 1u);  // no kernels
    return;
  }
  EXPECT_GE(trace.count(fault.code), 1);
  EXPECT_GE(trace.byte(fault.code), static_cast<std::int64_t>(before.size()));
  EXPECT_LE(trace.byte(fault.code), static_cast<std::int64_t>(before.size() + fault.bytes.size()));
}

const std::string good_event = field(9, 1) + field(11, 2) + field(23, "k");
INSTANTIATE_TEST_SUITE_P(
    Packets, PerfettoFaults,
    ::testing::Values(
        PacketFault{"unknown_fields", slice(2, 3000, 4000, "k", field(5000, "new") + field(4999, 7)), "", 4},
        PacketFault{"length_too_long_within", packet(field(8, 3000) + varint(11 << 3 | 2) + varint(200) + good_event),
                    "STV0770", 3},
        PacketFault{"cut_within", packet(field(8, 3000) + field(11, good_event.substr(0, good_event.size() - 1))),
                    "STV0770", 3},
        PacketFault{"length_too_short", field(1, "").substr(0, 1) + varint(2) + field(8, 3000) + field(10, 1),
                    "STV0770", 3},
        PacketFault{"no_packet", field(7, 12), "STV0770", 3},
        PacketFault{"wire_type_of_groups", std::string("\x0b\x0c"), "STV0770", 3},
        PacketFault{"wrong_wire_type_of_time", packet(field(8, "3000") + field(11, good_event)), "STV0745", 3},
        PacketFault{"other_age", slice(2, 1ull << 62, 1ull << 62, "k"), "STV0745", 3},
        PacketFault{"end_before_begin", slice(2, 4000, 3000, "k"), "STV0743", 4},
        PacketFault{"end_without_begin", end(2, 3000), "STV0748", 3},
        PacketFault{"begin_without_end", begin(12, 3000, "k"), "STV0748", 3},
        PacketFault{"missing_name", slice(2, 3000, 4000, "x", field(10, 99)), "STV0771", 4},
        PacketFault{"no_type", at(3000, field(11, 2)), "STV0770", 3},
        PacketFault{"unknown_clock", packet(field(8, 3000) + field(58, 70) + field(11, good_event)), "STV0745", 3},
        PacketFault{"not_zlib", packet(field(50, "garbage")), "STV0770", 3}),
    [](const auto& info) { return info.param.what; });

TEST(PerfettoFaults, TruncatedAnywhereKeepsWholePackets) {
  const std::string bytes = tracks + slice(2, 1000, 2000, "a") + slice(2, 3000, 4000, "b") + slice(2, 5000, 6000, "c");
  for (std::size_t length = tracks.size(); length < bytes.size(); length += 3) {
    const ImportedTimeline trace = import_perfetto(bytes.substr(0, length));
    if (trace.code() == "STV0731") continue;  // not one whole slice yet
    ASSERT_EQ(trace.code(), "") << length;
    EXPECT_LE(trace.timeline.slices().size(), 3u);
    EXPECT_LE(trace.count("STV0741"), 1);
    EXPECT_EQ(trace.slice("a").duration, 1_us);
  }
}

TEST(Perfetto, NothingToRead) { EXPECT_EQ(import_perfetto(tracks).code(), "STV0731"); }

}  // namespace
}  // namespace stave::perfetto_bytes
