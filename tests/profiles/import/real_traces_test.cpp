// Real captures, where the environment variable STAVE_TRACES names a folder that
// has them; they are not part of the source. What a plain reader counted.
#include "tests/profiles/import/imported.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace stave {
namespace {

struct Capture {
  const char* file;
  std::int64_t kernels;
  std::int64_t orphans;   // kernels, copies and memsets without their call
  std::int64_t overlaps;  // of kernels on one stream
  std::uint32_t ranks = 1;
};

std::ostream& operator<<(std::ostream& out, const Capture& capture) { return out << capture.file; }

class Captures : public ::testing::TestWithParam<Capture> {};

TEST_P(Captures, CountsAreThoseOfAPlainReader) {
  const char* const folder = std::getenv("STAVE_TRACES");
  if (folder == nullptr) GTEST_SKIP() << "STAVE_TRACES names no folder of captures";
  const std::string path = std::string(folder) + "/" + GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const ImportedTimeline trace = import_files({path});
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.kernels, GetParam().kernels);
  EXPECT_EQ(trace.report.orphans, GetParam().orphans);
  EXPECT_EQ(trace.report.overlaps, GetParam().overlaps);
  EXPECT_EQ(trace.report.ranks, GetParam().ranks);
  EXPECT_FALSE(trace.report.data_lost);
}

INSTANTIATE_TEST_SUITE_P(
    Real, Captures,
    ::testing::Values(
        Capture{"kineto/dlrm_8rank_a100.tar.gz", 2104, 128, 0, 8},
        Capture{"kineto/nccl_args_rank0.json.gz", 2700, 0, 0},
        Capture{"kineto/graph_launch_rank0.json.gz", 6080, 872, 0}, Capture{"kineto/ab_control.json.gz", 8568, 0, 0},
        Capture{"kineto/ab_test.json.gz", 9876, 614, 31}, Capture{"kineto/sampled_rank0.json.gz", 1154, 0, 0},
        Capture{"kineto/simple_add_critical_path.json.gz", 79, 0, 0}, Capture{"kineto/alexnet.json.gz", 79, 0, 0},
        Capture{"kineto/event_sync.json.gz", 4, 0, 0}, Capture{"kineto/event_sync_multi_stream.json.gz", 3, 0, 0},
        Capture{"kineto/compare_base.json.gz", 6, 16, 0}, Capture{"kineto/compare_test.json.gz", 5, 16, 0},
        Capture{"kineto/legacy_2021.json.gz", 4, 0, 0}, Capture{"kineto/large_216k_events.json.gz", 19370, 0, 0},
        Capture{"kineto/cpu_only.json.gz", 0, 0, 0}, Capture{"kineto/mi250_rocm.json.gz", 14, 0, 0},
        Capture{"kineto/b200_pdl_overlap.json.gz", 768, 0, 74}, Capture{"kineto/vllm_decode_graph.json.gz", 425, 0, 0},
        Capture{"kineto/zero_duration_resnet.json.gz", 9628, 0, 0},
        Capture{"nsys/h100_2gpu_1s.sqlite", 3442, 2276, 0, 2}, Capture{"nsys/mfu_2gpu_before.sqlite", 4010, 31, 1, 2},
        Capture{"nsys/mock.sqlite", 2, 0, 0}, Capture{"nsys/healthy_1pct.sqlite", 400, 0, 0},
        Capture{"xplane/jax_8gpu_conv.xplane.pb", 235, 0, 0, 8}, Capture{"faults/mini.pftrace", 3, 2, 1},
        Capture{"faults/mini_gpu_compute.pftrace", 3, 3, 1}),
    [](const auto& info) {
      std::string name = std::filesystem::path(info.param.file).filename().string();
      for (char& c : name)
        if (c == '.' || c == '-') c = '_';
      return name;
    });

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

// In order, without overlaps.
Spans joined(Spans spans) {
  std::sort(spans.begin(), spans.end());
  Spans out;
  for (const auto& [begin, end] : spans) {
    if (!out.empty() && begin <= out.back().second)
      out.back().second = std::max(out.back().second, end);
    else
      out.emplace_back(begin, end);
  }
  return out;
}
double microseconds_in(const Spans& spans) {
  double sum = 0;
  for (const auto& [begin, end] : spans) sum += static_cast<double>(end - begin) * 1e-6;
  return sum;
}

// A device by the union of its intervals; communication is what is named nccl.
struct DeviceTimes {
  const char* file;
  std::int64_t device;
  double span, busy, communication, compute, both;  // microseconds, busy in percent
  bool memsets = true;                              // count as busy
};
std::ostream& operator<<(std::ostream& out, const DeviceTimes& times) {
  return out << times.file << " device " << times.device;
}
class CapturedTimes : public ::testing::TestWithParam<DeviceTimes> {};

TEST_P(CapturedTimes, AreThoseOfAPlainReader) {
  const char* const folder = std::getenv("STAVE_TRACES");
  if (folder == nullptr) GTEST_SKIP() << "STAVE_TRACES names no folder of captures";
  const DeviceTimes& expected = GetParam();
  const std::string path = std::string(folder) + "/" + expected.file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const ImportedTimeline trace = import_files({path});
  ASSERT_EQ(trace.code(), "");
  const Timeline& timeline = trace.timeline;
  std::set<SliceId> memsets, copies;
  for (const CopyDetail& copy : timeline.copies()) (copy.memset ? memsets : copies).insert(copy.slice);
  Spans busy, communication, compute;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    const Track& track = timeline.track(slice.track);
    if (track.kind != TrackKind::Stream || track.device != expected.device) continue;
    const std::pair span{slice.start.count(), slice.end().count()};
    first = std::min(first, span.first);
    last = std::max(last, span.second);
    const bool memset = memsets.contains(SliceId{row + 1});
    if (expected.memsets || !memset) busy.push_back(span);
    if (memset || copies.contains(SliceId{row + 1})) continue;
    (slice.family == Family::Collective ? communication : compute).push_back(span);
  }
  busy = joined(busy);
  communication = joined(communication);
  compute = joined(compute);
  Spans either = communication;
  either.insert(either.end(), compute.begin(), compute.end());
  const double span = static_cast<double>(last - first) * 1e-6;
  const double both =
      microseconds_in(communication) + microseconds_in(compute) - microseconds_in(joined(std::move(either)));
  EXPECT_NEAR(span, expected.span, expected.span * 1e-4);
  EXPECT_NEAR(100 * microseconds_in(busy) / span, expected.busy, 0.01);
  EXPECT_NEAR(microseconds_in(communication), expected.communication, expected.communication * 1e-4);
  EXPECT_NEAR(microseconds_in(compute), expected.compute, expected.compute * 1e-4);
  EXPECT_NEAR(both, expected.both, expected.both * 1e-4 + 1e-3);
}

// That reader left memsets out of Nsight's tables.
INSTANTIATE_TEST_SUITE_P(
    Real, CapturedTimes,
    ::testing::Values(DeviceTimes{"kineto/nccl_args_rank0.json.gz", 0, 660551.006, 23.84, 46876.492, 115655.843,
                                  7317.026},
                      DeviceTimes{"kineto/ab_control.json.gz", 3, 464594, 83.64, 163535, 281336, 75614},
                      DeviceTimes{"kineto/ab_test.json.gz", 1, 745239, 96.34, 251341, 548148, 178043},
                      DeviceTimes{"kineto/sampled_rank0.json.gz", 0, 1222847, 44.79, 396199, 210320, 59216},
                      DeviceTimes{"nsys/mfu_2gpu_before.sqlite", 0, 299848.812, 91.28, 17172.652, 253690.832, 0, false},
                      DeviceTimes{"nsys/mfu_2gpu_before.sqlite", 1, 298661.551, 89.46, 8229.1, 256095.624, 0, false}));

// It has durations and dependencies, and not one start.
TEST(RealGraph, AChakraGraphSaysThatItIsOne) {
  const char* const folder = std::getenv("STAVE_TRACES");
  if (folder == nullptr) GTEST_SKIP() << "STAVE_TRACES names no folder of captures";
  const std::string path = std::string(folder) + "/chakra/feeder_tests.tar.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const ImportedTimeline trace = import_files({path});
  ASSERT_EQ(trace.code(), "STV0772");
  EXPECT_NE(trace.error[0].message.find("none of its 3664 nodes (1216 on a device)"), std::string::npos);
}

}  // namespace
}  // namespace stave
