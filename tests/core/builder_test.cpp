#include "core/ir/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "core/base/files.h"
#include "core/ir/expanded.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "examples/cpp/rings.h"

namespace stave {
namespace {

using namespace build;
using ::testing::HasSubstr;

std::string text_of(const Result<Module>& module) {
  if (module) return print(*module);
  std::string text;
  for (const Problem& problem : module.problems()) text += to_text(problem);
  return text;
}

TEST(Builder, TheRingIsTheExample) {
  const std::string file = STAVE_SOURCE_DIR "/examples/ring_matmul_2.stave";
  const Result<std::string> text = read_file(file);
  ASSERT_TRUE(text);
  EXPECT_EQ(text_of(examples::ring_matmul()), text_of(parse(file, *text)));
}

TEST(Builder, TheBidirectionalRingGroupsItsPermutes) {
  const Result<Module> module = examples::bidirectional_ring_matmul();
  ASSERT_TRUE(module) << text_of(module);
  EXPECT_THAT(print(*module), HasSubstr(R"(    %arrived[2] = async_start (stream = communication 0) {
      collective_group {
        collective_permute %pair[0][:m] -> %pair[1][:m] (axis = x, shift = 1)
        collective_permute %pair[0][m:] -> %pair[1][m:] (axis = x, shift = -1)
      }
    })"));
}

// Both hold for a ring of any size: expanded, they keep all rules.
TEST(Builder, TheRingsHoldForEverySize) {
  for (const Result<Module>& built : {examples::ring_matmul(), examples::bidirectional_ring_matmul()}) {
    ASSERT_TRUE(built) << text_of(built);
    for (std::int64_t n = 1; n <= 9; ++n) {
      Module module = *built;
      module.mesh.front().size = n;
      const Result<Expansion> expansion = expand_and_verify(std::make_shared<const Module>(std::move(module)));
      EXPECT_TRUE(expansion) << n << " ranks: " << to_text(expansion.problems().front());
    }
  }
}

// Every op of the table, each option once.
Result<Module> everything() {
  ModuleBuilder b("everything");
  const std::vector<Axis> xy = b.mesh({{"x", 2}, {"y", 4}});
  b.comment("how many").param("n", 8, list({8, 16}));
  const Int n = name("n");
  const Source p = b.source("p", "cuda", "first line\nsecond line");
  const Func twice = b.blank().function("twice", [&](FunctionBuilder& f) {
    const Value x = f.in("x", f32, {n});
    const Value y = f.out("y", f32, {n});
    f.map({x}, y, [](auto v) { return v * 2.0; });
  });
  const Func main = b.function("main", [&](FunctionBuilder& f) {
    const Value x = f.in("x", f32, {n}, Space::Device, xy[0]);
    const Value y = f.inout("y", f32, {n}, Space::Symmetric);
    const Value flag = f.inout("flag", boolean, {});
    const Value h = f.scratch("h", f32, {n}, Space::Host);
    const Value k = f.constant("k", f32, {3}, list({1.0, 2, -3.5}));
    const Value v = f.view("v", x.slice(4, 8).as(u8, {16}));
    f.blank().comment("and back").named("to_host").copy(x, h);
    f.call(twice, {x, y});
    f.repeat("i", 0, n, [&](const Int& i) { f.memzero(y[i]); });
    f.when(n % 2 == 0, [&] { f.memset(y, f32, -1.5); });
    f.map({x, k}, {y, h}, [](auto a, auto c) { return tuple({max(a, c), select(a < c, -a, cast(c, f32))}); });
    f.map({x[0], x[1]}, y, [](auto a, auto c) { return a / c; });
    f.map({}, y, [] { return Term(1.0); });
    f.gemm(x, x, y, {.transpose_b = true, .beta = 1, .epilogue = Epilogue::Bias, .c = y, .bias = k});
    f.reduce(x, y, Reduction::Max, {0});
    f.kernel({x}, {y},
             {.source = p,
              .entry = "add",
              .grid = {n, 1, 1},
              .block = {32, 1, 1},
              .args = {kernel_in(0), kernel_out(0), typed(f32, 1.0), typed(s32, n)},
              .reference = twice});
    f.custom_call({x}, {y}, "potrf", {{"lower", false}, {"text", text("a\"b")}});
    f.cond(
        flag, [&] { f.memzero(y); }, [&] { f.comment("nothing"); });
    f.select_branch(flag, {[&] {}, [&] { f.memzero(y); }});
    f.cost({{"trips", 3}})
        .loop(
            flag, [&] { f.memzero(flag); }, [] {});
    const TokenRef t{"t"};
    f.async_start(t[0], computation(n - 1), [&] { f.memzero(y); });
    f.async_done(t[0]);
    f.all_reduce(x, y,
                 {.axis = xy[0],
                  .reduction = Reduction::Min,
                  .groups = {{0, 1}},
                  .communicator = 2,
                  .max_ctas = 8,
                  .algorithm = Algorithm::Nvls});
    f.all_gather(x, y, {.axis = {xy[0], xy[1]}});
    f.reduce_scatter(x, y, {.axis = xy[1]});
    f.all_to_all({x, x}, {y, y}, {.axis = xy[0]});
    f.collective_permute(x, y, {.axis = xy[0], .pairs = {{0, 1}, {1, 0}}});
    f.broadcast(x, y, {.axis = xy[0], .root = 1});
    f.collective_group([&] {
      f.send(x, {.axis = xy[0], .peer = (index(xy[0]) + 1) % size(xy[0])});
      f.recv(y, {.axis = xy[0], .peer = 0});
    });
    f.range("end", [&] { f.memzero(v); });
    f.comment("done");
  });
  b.entry(main, span(0, 7));
  return std::move(b).finish();
}

TEST(Builder, MakesEveryOp) {
  const Result<Module> module = everything();
  ASSERT_TRUE(module) << text_of(module);
  std::set<std::uint8_t> seen;
  for (const Op& op : module->ops) seen.insert(static_cast<std::uint8_t>(op.kind));
  EXPECT_EQ(seen.size(), op_table().size());
  const std::string text = print(*module);
  EXPECT_THAT(text, HasSubstr("// how many\nparam n = 8 in [8, 16]\n"));
  EXPECT_THAT(text, HasSubstr("\n\n  // and back\n  copy %x -> %h (name = \"to_host\")\n"));
  EXPECT_THAT(text, HasSubstr("map %x, %k -> %y, %h (f = |x, k| (max(x, k), select(x < k, -x, f32(k))))"));
  EXPECT_THAT(text, HasSubstr("map %x[0], %x[1] -> %y (f = |v0, v1| v0 / v1)"));
  EXPECT_THAT(text, HasSubstr("memset -> %y (value = f32(-1.5))"));
  EXPECT_THAT(text, HasSubstr("%k = constant f32[3] (value = [1.0, 2, -3.5])"));
  EXPECT_THAT(text, HasSubstr("args = [in 0, out 0, f32 1.0, s32(n)]"));
  EXPECT_THAT(text, HasSubstr("  // done\n}\nentry @main on 0..7\n"));
}

TEST(Builder, PlacesAreThoseOfThePrintedText) {
  const Result<Module> module = examples::ring_matmul();
  ASSERT_TRUE(module);
  const Function& function = module->functions[FunctionId{0}];
  EXPECT_EQ(module->place(function.loc), (Place{"ring_matmul.stave", 8, 6, 8, 6}));
}

TEST(Builder, MistakesAreProblems) {
  const auto build = [](auto body) {
    ModuleBuilder b("bad");
    b.function("f", [&](FunctionBuilder& f) { body(f, f.in("x", f32, {4})); });
    return text_of(std::move(b).finish());
  };
  EXPECT_THAT(build([](auto& f, auto x) { f.custom_call({x}, {}, "t", {{"a", 1}, {"a", 2}}); }), HasSubstr("STV0110"));
  EXPECT_THAT(build([](auto& f, auto) { f.scratch("two words", f32, {1}); }), HasSubstr("STV01"));
  EXPECT_THAT(build([](auto& f, auto x) { f.comment("one\ntwo").memzero(x); }), HasSubstr("STV01"));
  EXPECT_THAT(build([](auto& f, auto x) { f.memset(x, f32, 1.0 / 0.0); }), HasSubstr("STV01"));
  EXPECT_THAT(build([](auto& f, auto x) {
                f.map({x, x}, x, [](auto a) { return a; });
              }),
              HasSubstr("does not take one argument an operand"));
  EXPECT_THAT(build([](auto& f, auto x) {
                Int sum = 1;
                for (int i = 0; i < 1'000'000; ++i) sum = sum + 1;
                f.memset(x, f32, sum);
              }),
              HasSubstr("STV0125"));
  EXPECT_THAT(build([](auto& f, auto x) {
                Int sum = 1;
                for (int i = 0; i < 1000; ++i) sum = sum + 1;
                f.memzero(x[sum]);
              }),
              HasSubstr("STV0125"));
  EXPECT_THAT(build([](auto& f, auto) {
                std::function<void(int)> nest = [&](int n) {
                  if (n > 0) f.when(1 < Int(2), [&] { nest(n - 1); });
                };
                nest(1000);
              }),
              HasSubstr("STV0125"));
}

TEST(Builder, NumbersOfAllWidths) {
  ModuleBuilder b("numbers");
  b.param("a", INT64_MIN);
  b.param("b", UINT64_MAX);
  b.param("c", -1);
  b.param("d", -0.0);
  b.param("e", true);
  EXPECT_EQ(text_of(std::move(b).finish()),
            "stave 1\nparam a = 0x8000000000000000\nparam b = 0xffffffffffffffff\nparam c = -1\nparam d = -0.0\n"
            "param e = true\n");
}

}  // namespace
}  // namespace stave
