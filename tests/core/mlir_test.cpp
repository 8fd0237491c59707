#include "core/text/mlir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "core/base/files.h"
#include "core/text/parse.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view schedule = R"(stave 1
mesh x = 2
source @p = cuda "void k();"
func @twice(%i: in f32[4], %o: out f32[4]) {
  map %i -> %o (f = |v| select(v < 1.0, v * 2.0, sin(v)))
}
func @main(%a: in f32[8], %b: inout f32[8], %flag: inout bool[] (uniform = [x]), %number: in s32[] (uniform = [x])) {
  %k = constant f32[3] (value = [1.0, 2.5e-3, -3.0])
  %h = scratch host f32[8]
  copy %b -> %h (name = "a \"name\"")
  memset -> %b (value = u32 0xffffffff)
  gemm %a as f32[2, 4], %b as f32[4, 2] -> %b[:4] as f32[2, 2] (alpha = 0.5)
  call @twice %a[:4], %b[axis_index(x) * 4 : +4]
  kernel %a[:4] -> %b[:4] (source = @p, entry = "k", grid = [1, 1, 1], block = [4, 1, 1], args = [in 0, out 0, f32 1.0], reference = @twice)
  custom_call %a -> %b (target = "t", attributes = {lower = false, n = [1, 2], s = "x", y = u8 7, z = 1.5})
  %t = async_start (stream = communication 1) {
    all_reduce %a -> %b (axis = x, reduction = sum, groups = [[0, 1]], max_ctas = 4, algorithm = ring)
    collective_permute %a -> %b (axis = x, pairs = [0 -> 1, 1 -> 0])
    collective_group {
      send %a (axis = x, peer = 1 - axis_index(x))
      recv -> %b (axis = x, peer = 1 - axis_index(x))
    }
  }
  async_done %t
  cond %flag then { memzero -> %b } else { }
  switch %number branch { } branch { memzero -> %b }
  while %flag (cost = {trips = 3}) condition { memzero -> %flag } body { }
  range (name = "r") { reduce %a as f32[4, 2] -> %b[:4] (reduction = sum, axes = [1]) }
}
)";

Result<std::string> printed(Rank rank) {
  TRY(Module module, parse("mlir.stave", schedule));
  TRY(Expansion expansion, expand(std::make_shared<const Module>(std::move(module))));
  return print_mlir(expansion.classes[expansion.class_of_rank[rank]], rank);
}

TEST(Mlir, OffsetsAndPeersAreThoseOfTheRank) {
  const Result<std::string> first = printed(0);
  ASSERT_TRUE(first) << to_text(first.problems().front(), schedule);
  const Result<std::string> second = printed(1);
  ASSERT_TRUE(second);
  EXPECT_THAT(*first, HasSubstr("rank = 0"));
  EXPECT_THAT(*first, HasSubstr("peer = 1"));
  EXPECT_THAT(*second, HasSubstr("peer = 0"));
  EXPECT_THAT(*second, HasSubstr("{offset = 16} : (!stave.buffer<device, f32[8]>) -> !stave.buffer<device, f32[4]>"));
  EXPECT_THAT(*first, HasSubstr("\"stave.async_done\"("));
}

TEST(Mlir, MlirOptTakesIt) {
  if (std::system("mlir-opt-16 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "mlir-opt-16 is not installed";
  const TempFolder folder;
  const Result<std::string> text = printed(1);
  ASSERT_TRUE(text);
  const std::string in = folder / "a.mlir";
  ASSERT_TRUE(write_file(in, *text));
  const std::string command =
      "mlir-opt-16 --allow-unregistered-dialect '" + in + "' > '" + in + ".out' 2> '" + in + ".err'";
  EXPECT_EQ(std::system(command.c_str()), 0) << *read_file(in + ".err") << *text;
  EXPECT_THAT(*read_file(in + ".out"), HasSubstr("stave.collective_group"));
}

}  // namespace
}  // namespace stave
