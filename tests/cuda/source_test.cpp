// The generated device code compiles; NVRTC needs no GPU for that.
#include <gtest/gtest.h>

#include "core/text/parse.h"
#include "executor/cuda/compiler.h"
#include "executor/cuda/mailbox.h"
#include "executor/cuda/map_source.h"
#include "executor/cuda/recorder_state.h"

namespace stave::cuda {
namespace {

std::string log_of(std::string_view source, std::string_view entry) {
  std::string lowered;
  const auto code = Compiler(90).compile(source, entry, lowered);
  return code ? "" : code.problems()[0].message;
}

constexpr Dtype all_dtypes[] = {Dtype::Bool,   Dtype::S4,  Dtype::U4,   Dtype::S8,  Dtype::U8,  Dtype::S16,
                                Dtype::U16,    Dtype::S32, Dtype::U32,  Dtype::S64, Dtype::U64, Dtype::F8E4M3,
                                Dtype::F8E5M2, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64};

TEST(CudaSource, ReductionsOfEveryDtype) {
  for (const Dtype dtype : all_dtypes) {
    const ReduceShape columns{dtype, dtype, Reduction::Max, {8, 4096, 3}, {1}, true};
    const ReduceShape rows{dtype, dtype, Reduction::Sum, {8, 4096}, {1}, true};
    const ReduceShape all{dtype, dtype, Reduction::Min, {1 << 10, 1 << 11}, {0, 1}, true};
    EXPECT_TRUE(plan_reduce(all, 132).shared);
    for (const ReduceShape& shape : {columns, rows, all})
      EXPECT_EQ(log_of(reduce_source(shape, plan_reduce(shape, 132)), "partial"), "") << name_of(dtype);
  }
}

TEST(CudaSource, CollectivesOfEveryReducibleDtype) {
  EXPECT_EQ(log_of(meeting_source(3), "arrive"), "");
  for (const Dtype dtype : {Dtype::S8, Dtype::U32, Dtype::S64, Dtype::F8E4M3, Dtype::F16, Dtype::BF16, Dtype::F64})
    EXPECT_EQ(log_of(combining_source(1, dtype, Reduction::Prod), "combine_members"), "") << name_of(dtype);
}

TEST(CudaSource, MapsOfEveryFunction) {
  const auto module = parse("maps.stave", R"(stave 1
func @f(%x: in f32[64], %h: in bf16[64], %i: in s32[64], %y: out f32[64], %k: out s8[64], %b: out bool[64]) {
  map %x -> %y (f = |v| exp(log(abs(v) + 1.0)) + sin(v) * cos(v) - tanh(v) / sqrt(v * v + 2.0) + erf(v))
  map %x -> %y (f = |v| select(v < 0.0, rsqrt(abs(v) + 0.5), min(v, 2.0) mod 0.75 + max(v, 1.0) div 0.5))
  map %h -> %y, %b (f = |v| (v * 2.0, v >= 1.0))
  map %i -> %k (f = |v| (v div 3) * (v mod 7) / 2 - v)
}
)");
  ASSERT_TRUE(module) << to_text(module.problems()[0]);
  const auto expansion = expand_and_verify(std::make_shared<const Module>(*module));
  ASSERT_TRUE(expansion) << to_text(expansion.problems()[0]);
  const Expanded& e = expansion->classes[0];
  for (const Command& c : e.commands) {
    MapShape shape;
    shape.elements = 64;
    for (const ViewId v : c.operands) shape.operands.push_back({e[v].dtype, 64, true});
    for (const ViewId v : c.results) shape.results.push_back({e[v].dtype, 64, false});
    EXPECT_EQ(log_of(map_source(e.lambdas[std::get<Map>(c.payload).f], shape), "map"), "");
  }
}

TEST(CudaSource, AFaultyTextIsToldWithItsLine) {
  EXPECT_NE(log_of("extern \"C\" __global__ void f() { nonsense; }", "f").find("nonsense"), std::string::npos);
}

// What one process recorded arrives whole in another; what is cut or names nothing is refused.
TEST(CudaSource, RecordsOfAnotherProcess) {
  Recorder::State sent;
  DeviceRecord kernel;
  kernel.name = sent.names.intern("gemm");
  kernel.start = 5;
  kernel.end = 9;
  kernel.correlation = 7;
  sent.device.push_back(kernel);
  sent.api.push_back({1, 2, 3, 7, 0, sent.names.intern("cudaLaunchKernel")});
  sent.steps.push_back({1, 4, true, 0, 10});
  sent.samples.push_back({1, 1980, 3201, 120000, 38, 6});
  sent.by_correlation[7] = {1, 2, 0, 3};
  sent.by_node[70] = {1, 5, 6, 0};
  sent.threads[3] = 1;
  sent.dropped = 11;
  Recorder::State got;
  ASSERT_TRUE(unpack(packed(sent), got));
  ASSERT_EQ(got.device.size(), 1U);
  EXPECT_EQ(got.names[got.device[0].name], "gemm");
  EXPECT_EQ(got.device[0].end, 9U);
  EXPECT_EQ(got.names[got.api[0].name], "cudaLaunchKernel");
  EXPECT_EQ(got.steps[0].number, 4U);
  EXPECT_EQ(got.samples[0].sm_mhz, 1980U);
  EXPECT_EQ(got.by_correlation.at(7).occurrence, 3U);
  EXPECT_EQ(got.by_node.at(70).command, 5U);
  EXPECT_EQ(got.threads.at(3), 1U);
  EXPECT_EQ(got.dropped, 11U);

  const std::string whole = packed(sent);
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, whole.size() / 2, whole.size() - 1}) {
    Recorder::State cut;
    EXPECT_FALSE(unpack(std::string_view(whole).substr(0, size), cut)) << size;
  }
  sent.device[0].name = StringId{std::size_t{1000}};
  Recorder::State nameless;
  EXPECT_FALSE(unpack(packed(sent), nameless));
}

}  // namespace
}  // namespace stave::cuda
