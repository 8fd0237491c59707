// Real captures, where the environment variable STAVE_TRACES names a folder that
// has them; they are not part of the source. What a plain reader counted.
#include "tests/profiles/import/imported.h"

#include <cstdlib>
#include <filesystem>

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
        Capture{"nsys/mock.sqlite", 2, 0, 0}, Capture{"nsys/healthy_1pct.sqlite", 400, 0, 0}),
    [](const auto& info) {
      std::string name = std::filesystem::path(info.param.file).filename().string();
      for (char& c : name)
        if (c == '.' || c == '-') c = '_';
      return name;
    });

}  // namespace
}  // namespace stave
