#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/ir/expand_coord.h"
#include "tests/core/expand_support.h"

namespace stave {
namespace {

Mesh mesh_2x3() {
  Mesh mesh;
  mesh.axes = {"x", "y"};
  mesh.sizes = {2, 3};
  return mesh;
}

TEST(Mesh, LastAxisIsFastest) {
  const Mesh mesh = mesh_2x3();
  EXPECT_EQ(mesh.ranks(), 6);
  EXPECT_EQ(mesh.coordinates(4), (std::vector<std::int64_t>{1, 1}));
  for (Rank r = 0; r < 6; ++r) EXPECT_EQ(mesh.rank_at(mesh.coordinates(r)), r);
  EXPECT_EQ(Mesh{}.ranks(), 1);
}

TEST(Mesh, GroupsAreBuiltFromTheFlattenedAxes) {
  const Mesh mesh = mesh_2x3();
  const auto along_y = group_of(mesh, {1}, {}, 4);
  EXPECT_EQ(along_y.members, (std::vector<Rank>{3, 4, 5}));
  EXPECT_EQ(along_y.position, 1u);
  const auto along_x = group_of(mesh, {0}, {}, 4);
  EXPECT_EQ(along_x.members, (std::vector<Rank>{1, 4}));
  EXPECT_EQ(along_x.position, 1u);
  // y outermost: positions run over x first.
  const auto turned = group_of(mesh, {1, 0}, {}, 4);
  EXPECT_EQ(turned.members, (std::vector<Rank>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(turned.position, 3u);
  const auto grouped = group_of(mesh, {0, 1}, {{5, 0}, {4, 1, 2, 3}}, 1);
  EXPECT_EQ(grouped.members, (std::vector<Rank>{4, 1, 2, 3}));
  EXPECT_EQ(grouped.position, 1u);
  EXPECT_TRUE(group_of(mesh, {0, 1}, {{5, 0}}, 1).members.empty());
}

TEST(Expanded, ShiftIsPairs) {
  const Expanded e;
  CollectivePermute permute;
  permute.shift = -1;
  EXPECT_EQ(e.pairs_of(permute, 3), (Pairs{{0, 2}, {1, 0}, {2, 1}}));
}

RC_GTEST_PROP(Coordinates, DivAndModRoundDown, (std::int32_t a, std::int32_t b)) {
  RC_PRE(b != 0);
  const std::int64_t q = floor_div(a, b), r = floor_mod(a, b);
  RC_ASSERT(q * b + r == a);
  RC_ASSERT((b > 0 ? r >= 0 && r < b : r <= 0 && r > b));
}

// Any expression, folded or not, has the values of its parts at every
// coordinate, and they lie within its bounds.
RC_GTEST_PROP(Coordinates, CombineKeepsValues, ()) {
  const Mesh mesh = mesh_2x3();
  Store<CoordExpr> exprs;
  CoordPool pool(exprs, mesh);
  std::vector<CoordInt> values = {pool.axis(0), pool.axis(1)};
  std::vector<std::vector<std::int64_t>> expected;  // by value, by rank
  for (const CoordInt v : values) {
    expected.emplace_back();
    for (Rank r = 0; r < 6; ++r) expected.back().push_back(value_at(exprs, v, mesh.coordinates(r)));
  }
  const int steps = *rc::gen::inRange(1, 12);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      const auto constant = *rc::gen::inRange<std::int64_t>(-4, 9);
      values.push_back({constant, {}});
      expected.emplace_back(6, constant);
    }
    const auto a = *rc::gen::inRange<std::size_t>(0, values.size());
    const auto b = *rc::gen::inRange<std::size_t>(0, values.size());
    const auto op = static_cast<CoordExpr::Op>(*rc::gen::inRange(2, 7));
    const auto [value, problem] = pool.combine(op, values[a], values[b]);
    const bool divides = op == CoordExpr::Op::Div || op == CoordExpr::Op::Mod;
    const bool by_zero = divides && std::count(expected[b].begin(), expected[b].end(), 0) > 0;
    RC_ASSERT(by_zero == (problem == "divides by zero"));
    if (!problem.empty()) continue;
    std::vector<std::int64_t> want;
    for (Rank r = 0; r < 6; ++r) {
      const std::int64_t x = expected[a][r], y = expected[b][r];
      want.push_back(op == CoordExpr::Op::Add   ? x + y
                     : op == CoordExpr::Op::Sub ? x - y
                     : op == CoordExpr::Op::Mul ? x * y
                     : op == CoordExpr::Op::Div ? floor_div(x, y)
                                                : floor_mod(x, y));
      const std::int64_t got = value_at(exprs, value, mesh.coordinates(r));
      RC_ASSERT(got == want.back());
      RC_ASSERT(got >= pool.facts(value).low && got <= pool.facts(value).high);
    }
    values.push_back(value);
    expected.push_back(want);
  }
}

TEST(Coordinates, EqualExpressionsAreOne) {
  const Mesh mesh = mesh_2x3();
  Store<CoordExpr> exprs;
  CoordPool pool(exprs, mesh);
  const CoordInt a = pool.combine(CoordExpr::Op::Mul, pool.axis(0), {4, {}}).value;
  const CoordInt b = pool.combine(CoordExpr::Op::Mul, pool.axis(0), {4, {}}).value;
  EXPECT_EQ(a, b);
  EXPECT_EQ(pool.combine(CoordExpr::Op::Mul, a, {0, {}}).value, (CoordInt{0, {}}));
  EXPECT_EQ(pool.combine(CoordExpr::Op::Add, a, {0, {}}).value, a);
}

TEST(Coordinates, EveryCombinationOfTheAxesOnce) {
  const Mesh mesh = mesh_2x3();
  const auto count = [&](std::uint64_t axes) {
    int n = 0;
    for_each_coordinate(mesh, axes, [&](auto) { return ++n, true; });
    return n;
  };
  EXPECT_EQ(count(0), 1);
  EXPECT_EQ(count(1), 2);
  EXPECT_EQ(count(2), 3);
  EXPECT_EQ(count(3), 6);
  int n = 0;
  EXPECT_TRUE(for_each_coordinate(Mesh{}, 0, [&](auto) { return ++n, true; }));
  EXPECT_EQ(n, 1);
}

constexpr std::string_view nested = R"(stave 1
func @inner(%x: inout f32[4]) {
  memzero -> %x
  range (name = "twice") {
    memzero -> %x
    range (name = "deeper") {
      memzero -> %x
    }
  }
}
func @main(%x: inout f32[4], %p: inout bool[]) {
  repeat (index = i, to = 3) {
    call @inner %x
    cond %p then {
      call @inner %x
    } else {
      memzero -> %x
    }
  }
}
)";

TEST(Expand, NestedCommandsStandBeforeAndEachStandsInOneRegion) {
  const Expanded e = expanded(nested);
  std::vector<int> regions_of(e.commands.size());
  for (const CommandRegion& region : e.regions)
    for (const CommandId id : region.commands) {
      ++regions_of[id.value];
      for (const CommandRegionId inner : e[id].regions)
        for (const CommandId below : e.regions[inner].commands) EXPECT_LT(below.value, id.value);
    }
  for (const int n : regions_of) EXPECT_EQ(n, 1);
  EXPECT_EQ(e.regions[e.body].commands.size(), 9u);
}

TEST(Expand, PathsAreUniqueAndSurviveUnrelatedEdits) {
  const auto paths = [](const Expanded& e) {
    std::set<std::string> out;
    for (const CommandId id : e.commands.all()) out.insert(e.path(id));
    return out;
  };
  const Expanded e = expanded(nested);
  const auto before = paths(e);
  EXPECT_EQ(before.size(), e.commands.size());
  EXPECT_TRUE(before.count("main/call#2[i=1]/memzero#3"));
  std::string edited(nested);
  edited.insert(edited.find("  repeat"), "  copy %x[0:2] -> %x[2:4]\n");
  const auto after = paths(expanded(edited));
  EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

TEST(Expand, ARepeatIsItsUnrolling) {
  constexpr std::string_view head = "stave 1\nmesh x = 4\nfunc @f(%a: inout f32[8, 4]) {\n";
  const Expanded loop = expanded(std::string(head) + R"(  repeat (index = s, from = 1, to = 4) {
    %v = view %a[(axis_index(x) + s) mod 8]
    memset -> %v (value = f32(s))
    %t[s] = async_start (stream = computation(s)) {
      copy %v -> %a[((axis_index(x) + s + 1) mod 8)] (cost = {time = s * 10})
    }
    async_done %t[s]
  }
}
)");
  std::string text(head);
  for (int s = 1; s < 4; ++s)
    text += fmt::format(R"(  memset -> %a[(axis_index(x) + {0}) mod 8] (value = f32({0}))
  %t{0} = async_start (stream = computation {0}) {{
    copy %a[(axis_index(x) + {0}) mod 8] -> %a[((axis_index(x) + {1}) mod 8)] (cost = {{time = {0} * 10}})
  }}
  async_done %t{0}
)",
                        s, s + 1);
  const Expanded flat = expanded(text + "}\n");
  ASSERT_EQ(loop.commands.size(), flat.commands.size());
  for (const CommandId id : loop.commands.all()) {
    const Command &a = loop[id], &b = flat[id];
    EXPECT_EQ(a.payload, b.payload);
    EXPECT_EQ(a.cost ? loop.costs[a.cost] : Cost{}, b.cost ? flat.costs[b.cost] : Cost{});
    ASSERT_EQ(a.operands.size(), b.operands.size());
    ASSERT_EQ(a.results.size(), b.results.size());
    for (std::size_t i = 0; i < a.results.size(); ++i)
      for (Rank r = 0; r < 4; ++r)
        EXPECT_EQ(loop.at(loop[a.results[i]].offset, r), flat.at(flat[b.results[i]].offset, r));
  }
}

TEST(Expand, ParamsComeFromTheOptionsAndStayInTheResult) {
  constexpr std::string_view text = R"(stave 1
param chunks = 2 in [1, 2, 4]
param size = chunks * 8
param kind = sum
func @f(%a: inout f32[size]) {
  repeat (index = s, to = chunks) {
    memzero -> %a[s * 8 : +8]
  }
}
)";
  EXPECT_EQ(expanded(text).commands.size(), 2u);
  const Expanded e = expanded(text, {.params = {{"chunks", "4"}}});
  EXPECT_EQ(e.commands.size(), 4u);
  EXPECT_EQ(e.params, (std::vector<std::pair<std::string, std::int64_t>>{{"chunks", 4}, {"size", 32}}));
  EXPECT_EQ(e.buffers[BufferId{0}].bytes, 128);
  EXPECT_EQ(code_of(text, {.params = {{"chunks", "3"}}}), "STV0204");
  EXPECT_EQ(code_of(text, {.params = {{"chunk", "4"}}}), "STV0202");
  for (const char* bad : {"", "4 4", "x y", "1e", "0x", "..", "nan"})
    EXPECT_NE(code_of(text, {.params = {{"size", bad}}}), "") << bad;
  EXPECT_EQ(expanded(text, {.params = {{"size", "0x40"}}}).buffers[BufferId{0}].bytes, 256);
}

TEST(Expand, OneFunctionForAllRanksOrEntries) {
  const auto result =
      expand(module_of("stave 1\nmesh x = 3\nfunc @a() {\n}\nfunc @b() {\n}\nentry @a on [2, 0]\nentry @b on 1\n"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->class_of_rank, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(result->classes[0].ranks, (std::vector<Rank>{0, 2}));
  const Expanded last = expanded("stave 1\nmesh x = 3\nfunc @a() {\n}\nfunc @b() {\n}\n");
  EXPECT_EQ(last.module->text(last.module->functions[last.entry].name), "b");
  EXPECT_EQ(last.ranks.size(), 3u);
}

TEST(Expand, AReferenceExpandsByItself) {
  const auto module =
      module_of("stave 1\nfunc @r(%x: in f32[4], %y: out f32[4]) {\n  copy %x -> %y\n}\nfunc @f() {\n}\n");
  const auto e = expand_function(module, FunctionId{0});
  ASSERT_TRUE(e);
  EXPECT_EQ(e->parameters.size(), 2u);
  EXPECT_EQ(e->path(CommandId{0}), "r/copy#1");
}

// The parser says these in its own words; modules that a program builds do not pass it.
TEST(Expand, DoesNotRelyOnTheParser) {
  const auto in = [](std::string_view statement) {
    return fmt::format("stave 1\nfunc @f(%a: inout f32[4]) {{\n  {}\n}}\n", statement);
  };
  EXPECT_EQ(code_of("stave 1\nfunc @f() {\n}\nfunc @f() {\n}\n"), "STV0201");
  EXPECT_EQ(code_of("stave 1\nmesh x = 2\nparam x = 2\nfunc @f() {\n}\n"), "STV0201");
  EXPECT_EQ(code_of("stave 1\nsource @p = ptx \"\"\nsource @p = ptx \"\"\nfunc @f() {\n}\n"), "STV0201");
  EXPECT_EQ(code_of(in("memzero %a -> %a")), "STV0214");
  EXPECT_EQ(code_of(in("copy %a")), "STV0214");
  EXPECT_EQ(code_of(in("async_start (stream = computation 0) {\n}")), "STV0214");
  EXPECT_EQ(code_of(in("%v = memzero -> %a")), "STV0214");
  EXPECT_EQ(code_of(in("memzero -> %a (size = 4)")), "STV0215");
  EXPECT_EQ(code_of(in("memset -> %a (value = f32 1.0, value = f32 2.0)")), "STV0216");
  EXPECT_EQ(code_of(in("memset -> %a")), "STV0217");
  EXPECT_EQ(code_of(in("custom_call %a -> %a (target = \"t\", attributes = {n = 1, n = 2})")), "STV0216");
  EXPECT_EQ(code_of(in("map %a, %a -> %a (f = |x, x| x)")), "STV0260");
}

TEST(Expand, HugeMeshesAndShapesAreErrors) {
  EXPECT_EQ(code_of("stave 1\nmesh x = 1000000000000\nfunc @f() {\n}\n"), "STV0200");
  EXPECT_EQ(code_of("stave 1\nfunc @f(%a: in f32[9223372036854775807]) {\n}\n"), "STV0279");
  EXPECT_EQ(code_of("stave 1\nmesh x = 2\nfunc @f(%a: inout f32[4]) {\n  memzero -> %a[axis_index(x) * "
                    "9223372036854775807 : +1]\n}\n"),
            "STV0271");
}

TEST(Expand, CallsThatDoubleAreBounded) {
  std::string text = "stave 1\nfunc @f0(%x: out f32[4]) {\n  memzero -> %x\n}\n";
  for (int i = 1; i < 60; ++i)
    text += fmt::format("func @f{0}(%x: out f32[4]) {{\n  call @f{1} %x\n  call @f{1} %x\n}}\n", i, i - 1);
  EXPECT_EQ(code_of(text, {.max_commands = 10000}), "STV0225");
}

TEST(Expand, LambdaNodesAreTyped) {
  const Expanded e = expanded(
      "stave 1\nparam n = 3\nfunc @f(%a: in f16[4], %b: out f16[4]) {\n  map %a -> %b (f = |x| select(x < n, x * 0.5, "
      "f16(f32(x))))\n}\n");
  const Lambda& f = e.lambdas[std::get<Map>(e[CommandId{0}].payload).f];
  EXPECT_EQ(f.arity, 1u);
  ASSERT_EQ(f.results.size(), 1u);
  EXPECT_EQ(f.nodes[f.results[0]].op, LambdaNode::Op::Select);
  EXPECT_EQ(f.nodes[f.results[0]].dtype, Dtype::F16);
  std::multiset<std::string> kinds;
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const LambdaNode& node = f.nodes[i];
    kinds.insert(fmt::format("{} {}", name_of(node.op), name_of(node.dtype)));
    if (node.op != LambdaNode::Op::Argument && node.op != LambdaNode::Op::Constant) {
      EXPECT_LT(node.a, i);
    }
  }
  EXPECT_EQ(kinds, (std::multiset<std::string>{"argument f16", "constant f16", "< bool", "constant f16", "* f16",
                                               "cast f32", "cast f16", "select f16"}));
}

std::vector<std::string> schedules() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(STAVE_SOURCE_DIR "/tests/verify"))
    if (file.path().extension() == ".stave") paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const std::string& path : paths)
    if (auto text = read_file(path)) out.push_back(*std::move(text));
  return out;
}

// Words, numbers, and single characters with the blanks behind them.
std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> out;
  const auto word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t j = i + 1;
    while (word(text[i]) && j < text.size() && word(text[j])) ++j;
    out.push_back(text.substr(i, j - i));
    i = j;
  }
  return out;
}

// Whatever the parser lets through gives an answer: an expansion or problems.
RC_GTEST_PROP(Expand, ChangedSchedulesGiveAnAnswer, ()) {
  static const std::vector<std::string> all = schedules();
  RC_ASSERT(!all.empty());
  std::vector<std::string> pieces = pieces_of(all[*rc::gen::inRange<std::size_t>(0, all.size())]);
  const std::vector<std::string> others = pieces_of(all[*rc::gen::inRange<std::size_t>(0, all.size())]);
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i)
    pieces[*rc::gen::inRange<std::size_t>(0, pieces.size())] = others[*rc::gen::inRange<std::size_t>(0, others.size())];
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  auto module = parse("t.stave", text);
  if (!module) return;
  const auto result = expand_and_verify(std::make_shared<const Module>(*std::move(module)), {.max_commands = 10000});
  if (!result) RC_ASSERT(!result.problems().empty());
}

}  // namespace
}  // namespace stave
