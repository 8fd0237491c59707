// Profiles of XLA; the numbers of fields are those of xplane.proto.
#include "tests/profiles/import/imported.h"
#include "tests/profiles/import/wire.h"

namespace stave::xplane_bytes {
namespace {

using wire::field;
using wire::real;
using wire::varint;

std::string metadata(std::uint32_t map, std::uint64_t id, const std::string& name, const std::string& more = "") {
  return field(map, field(1, id) + field(2, field(1, id) + field(2, name) + more));
}
std::string event(std::uint64_t id, std::uint64_t offset_ps, std::uint64_t duration_ps, const std::string& stats = "") {
  return field(4, field(1, id) + field(2, offset_ps) + field(3, duration_ps) + stats);
}
std::string stat(std::uint64_t id, std::uint64_t value) { return field(4, field(1, id) + field(3, value)); }
std::string line(std::uint64_t id, const std::string& name, const std::string& events, std::uint64_t ns = 1000) {
  return field(3, field(1, id) + field(2, name) + field(3, ns) + events);
}
std::string plane(const std::string& name, const std::string& rest) {
  return field(1, field(1, 1) + field(2, name) + rest);
}

// 1 correlation_id, 2 kernel_details, 3 its text, 4 step_num, 5 a shared one, 6 memcpy_details
const std::string stat_names = metadata(5, 1, "correlation_id") + metadata(5, 2, "kernel_details") +
                               metadata(5, 3, " regs:2191500840 grid:16,2,1 block:512,1,1 occ_pct:0") +
                               metadata(5, 4, "step_num") + metadata(5, 5, "hlo_category") +
                               metadata(5, 6, "memcpy_details");
const std::string device_names = metadata(4, 1, "gemm_fusion", field(5, field(1, 5) + field(5, "convolution"))) +
                                 metadata(4, 2, "ncclDevKernel_AllReduce") + metadata(4, 3, "MemcpyD2D") +
                                 metadata(4, 4, "7") + metadata(4, 5, "jit_step");
const std::string host_names =
    metadata(4, 1, "cuLaunchKernel") + metadata(4, 2, "ExecuteOnLocalDevices") + metadata(4, 3, "train");

std::string gpu(int device, const std::string& lines) {
  return plane("/device:GPU:" + std::to_string(device), lines + device_names + stat_names);
}
std::string host(const std::string& lines) { return plane("/host:CPU", lines + host_names + stat_names); }

ImportedTimeline import_xplane(const std::string& bytes, const std::string& name = "host.xplane.pb") {
  const TempFolder folder;
  write_bytes(folder / name, bytes);
  return import_files({folder / name});
}

const std::string kernel_details = field(4, field(1, 2) + field(7, 3));

TEST(Xplane, DevicesAreRanksAndThreadsBelongToThem) {
  const ImportedTimeline trace = import_xplane(
      gpu(0, line(16, "Stream #16(Kernel)",
                  event(1, 5'000'000, 2'000'500, stat(1, 41) + kernel_details) +
                      event(1, 6'000'000, 3'000'000, stat(1, 99)))) +
      gpu(1, line(17, "Stream #17(MemcpyD2D,Kernel)",
                  event(3, 9'000'000, 1'000'000,
                        stat(1, 42) + field(4, field(1, 6) + field(5, "kind_src:device size:4096 async:1"))))) +
      host(line(583, "python", event(1, 1'000'000, 500'000, stat(1, 41)) + event(2, 500'000, 4'000'000)) +
           line(600, "worker", event(1, 8'000'000, 500'000, stat(1, 42)))));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.format, "xplane");
  EXPECT_EQ(trace.report.ranks, 2u);
  EXPECT_EQ(trace.timeline.ranks()[1].device, 1);
  EXPECT_EQ(trace.timeline.ranks()[1].rank_from, "device order");
  EXPECT_EQ(trace.report.kernels, 2);
  EXPECT_EQ(trace.report.copies, 1);
  EXPECT_EQ(trace.report.calls, 2);
  EXPECT_EQ(trace.report.orphans, 1);
  EXPECT_EQ(trace.report.overlaps, 1);
  EXPECT_EQ(trace.flows(FlowKind::Launch, Certainty::Recorded), 2);
  const Slice& kernel = trace.slice("gemm_fusion");
  EXPECT_EQ(kernel.start, 4'500'000_ps);  // from the first event
  EXPECT_EQ(kernel.duration, 2'000'500_ps);
  EXPECT_EQ(trace.timeline.track(kernel.track).stream, 16);
  const KernelDetail& detail = trace.timeline.kernels()[0];
  EXPECT_EQ(detail.grid, (LaunchDims{16, 2, 1}));
  EXPECT_EQ(detail.block, (LaunchDims{512, 1, 1}));
  EXPECT_EQ(detail.registers_per_thread, std::nullopt);
  EXPECT_EQ(trace.timeline.copies()[0].bytes, 4096);
  EXPECT_EQ(trace.timeline.copies()[0].copy_kind, 8u);
  EXPECT_EQ(trace.timeline.args(SliceId{2})->json, R"({"correlation_id": 99, "hlo_category": "convolution"})");
  for (const Track& track : trace.timeline.tracks())
    EXPECT_EQ(track.rank, track.thread == 600 || track.device == 1 ? 1u : 0u);
  EXPECT_EQ(trace.slice("ExecuteOnLocalDevices").family, Family::Host);
}

TEST(Xplane, StepsOfADeviceElseOfTheHost) {
  const std::string stream = line(1, "Stream #1(Kernel)", event(1, 2'000'000, 1'000'000));
  const ImportedTimeline device = import_xplane(gpu(0, stream + line(2, "Steps", event(4, 1'000'000, 3'000'000)) +
                                                           line(3, "XLA Modules", event(5, 1'000'000, 3'000'000))));
  EXPECT_EQ(device.slice("gemm_fusion").step, StepNumber{7});
  EXPECT_EQ(device.report.steps, 1u);
  EXPECT_EQ(device.timeline.track(device.slice("jit_step").track).kind, TrackKind::Range);
  const ImportedTimeline host_steps = import_xplane(
      gpu(0, stream) + host(line(5, "python", event(3, 1'500'000, 4'000'000, field(4, field(1, 4) + field(4, 12))))));
  EXPECT_EQ(host_steps.slice("gemm_fusion").step, StepNumber{12});
}

TEST(Xplane, CollectivesOfDevicesAreMatched) {
  const auto rank = [](int device, std::uint64_t start) {
    return gpu(device, line(1, "Stream #1(Kernel)", event(2, start, 9'000'000 - start)));
  };
  const ImportedTimeline trace = import_xplane(gzipped(rank(0, 1'000'000) + rank(1, 4'000'000)), "host.xplane.pb.gz");
  ASSERT_EQ(trace.timeline.collectives().size(), 2u);
  EXPECT_EQ(trace.timeline.collectives()[0].arrival_wait, 3_us);
  EXPECT_EQ(trace.timeline.collectives()[1].transfer, 5_us);
}

struct EventFault {
  const char* what;
  std::string bytes;
  const char* code;
  std::size_t slices;
};
std::ostream& operator<<(std::ostream& out, const EventFault& fault) { return out << fault.what; }
class XplaneFaults : public ::testing::TestWithParam<EventFault> {};

TEST_P(XplaneFaults, CostAtMostOneEvent) {
  const EventFault& fault = GetParam();
  const std::string first = event(1, 1'000'000, 1'000'000), last = event(2, 9'000'000, 1'000'000);
  const ImportedTimeline trace = import_xplane(gpu(0, line(1, "Stream #1(Kernel)", first + fault.bytes + last)));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("gemm_fusion").duration, 1_us);
  EXPECT_EQ(trace.timeline.slices().size(), fault.slices) << ::testing::PrintToString(trace.names());
  EXPECT_GE(trace.count(fault.code), *fault.code == '\0' ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(
    Events, XplaneFaults,
    ::testing::Values(
        EventFault{"unknown_fields", event(1, 3'000'000, 1, field(99, "new") + field(98, 1)), "", 3},
        EventFault{"cut_within", field(4, event(1, 3'000'000, 1).substr(2, 5)), "STV0770", 2},
        EventFault{"longer_than_its_line", varint(4 << 3 | 2) + varint(100000) + field(1, 1), "STV0770", 1},
        EventFault{"wire_type_of_groups", std::string("\x0b\x0c"), "STV0770", 1},
        EventFault{"negative_duration", event(1, 3'000'000, static_cast<std::uint64_t>(-5)), "STV0743", 3},
        EventFault{"zero_duration", event(1, 3'000'000, 0), "STV0744", 3},
        EventFault{"other_age", event(1, 1ull << 62, 1), "STV0745", 2},
        EventFault{"aggregate", field(4, field(1, 1) + field(5, 12) + field(3, 7)), "STV0745", 2},
        EventFault{"missing_name", event(77, 3'000'000, 1), "STV0771", 3},
        EventFault{"missing_stat", event(1, 3'000'000, 1, stat(77, 1)), "STV0771", 3},
        EventFault{"wrong_wire_type", field(4, field(1, "1") + field(2, 3'000'000)), "STV0771", 3}),
    [](const auto& info) { return info.param.what; });

TEST(XplaneFaults, TruncatedAnywhere) {
  const std::string first = gpu(0, line(1, "Stream #1(Kernel)", event(1, 1'000'000, 1'000'000)));
  const std::string bytes = first + host(line(5, "python", event(2, 1, 2)));
  for (std::size_t length = 0; length < bytes.size(); length += 3) {
    const ImportedTimeline trace = import_xplane(bytes.substr(0, length));
    if (trace.code() == "STV0730" || trace.code() == "STV0731") continue;  // not one whole event yet
    ASSERT_EQ(trace.code(), "") << length;
    EXPECT_EQ(trace.count("STV0741"), length == first.size() ? 0 : 1) << length;
  }
}

}  // namespace
}  // namespace stave::xplane_bytes
