// Programs of known verdict, in both searches and in the modes that they name.
#include <gtest/gtest.h>

#include <ostream>

#include "core/text/parse.h"
#include "executor/explorer/explore.h"

namespace stave {
namespace {

Result<Exploration> explored(std::string_view text, Mode mode, const ExploreOptions& options) {
  Result<Module> module = parse("test.stave", text);
  EXPECT_TRUE(module) << to_text(module.problems()[0]);
  Result<Expansion> expansion = expand_and_verify(std::make_shared<const Module>(*std::move(module)));
  EXPECT_TRUE(expansion) << to_text(expansion.problems()[0]);
  TRY(const Plan plan, lower(*std::move(expansion), mode));
  return explore(plan, options);
}

std::string verdict(const Exploration& e) {
  std::string text;
  for (std::size_t i = 0; i < defect_count; ++i)
    if (e.witnesses[i]) text += fmt::format("{}{}", text.empty() ? "" : " ", name_of(static_cast<Defect>(i)));
  return text.empty() ? "clean" : text;
}

struct Known {
  std::string_view name, eager, captured, captured_serial, body;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const Known& known, std::ostream* out) { *out << known.name; }

const Known known_programs[] = {
    {"OneAfterTheOther", "clean", "clean", "clean", R"(
func @f(%a: in f32[2], %b: out f32[2]) {
  map %a -> %b (f = |v| v + 1.0)
  map %b -> %b (f = |v| v + 1.0)
})"},
    {"TwoStreamsApart", "clean", "clean", "clean", R"(
func @f(%a: in f32[2], %b: out f32[4]) {
  %t = async_start (stream = computation 0) {
    copy %a -> %b[0:2]
  }
  copy %a -> %b[2:4]
  async_done %t
})"},
    {"TwoStreamsWriteTheSame", "race", "race", "clean", R"(
func @f(%a: in f32[2], %b: out f32[2]) {
  %t = async_start (stream = computation 0) {
    copy %a -> %b
  }
  memzero -> %b
  async_done %t
})"},
    {"ReadBeforeTheDone", "race uninitialised", "race uninitialised", "clean", R"(
func @f(%a: in f32[2], %b: out f32[2]) {
  %s = scratch f32[2]
  %t = async_start (stream = computation 0) {
    copy %a -> %s
  }
  copy %s -> %b
  async_done %t
})"},
    {"WriteWhatIsRead", "race", "race", "clean", R"(
func @f(%a: inout f32[2], %b: out f32[2]) {
  %t = async_start (stream = computation 0) {
    copy %a -> %b
  }
  memzero -> %a
  async_done %t
})"},
    {"TwoReaders", "clean", "clean", "clean", R"(
func @f(%a: in f32[2], %b: out f32[2], %c: out f32[2]) {
  %t = async_start (stream = computation 0) {
    copy %a -> %b
  }
  copy %a -> %c
  async_done %t
})"},
    {"RaceOnOneRankOnly", "race", "race", "clean", R"(
mesh x = 3
func @f(%a: in f32[2], %b: out f32[4]) {
  %t = async_start (stream = computation 0) {
    copy %a[0:1] -> %b[axis_index(x):+1]
  }
  copy %a[0:1] -> %b[2:3]
  async_done %t
})"},
    {"ScratchIsRead", "uninitialised", "uninitialised", "uninitialised", R"(
func @f(%b: out f32[2]) {
  %s = scratch f32[2]
  copy %s -> %b
})"},
    {"OneBranchWrites", "uninitialised", "uninitialised", "uninitialised", R"(
func @f(%p: in bool[], %b: out f32[2]) {
  %s = scratch f32[2]
  cond %p then {
    memzero -> %s
  }
  copy %s -> %b
})"},
    {"BothBranchesWrite", "clean", "clean", "clean", R"(
func @f(%p: in bool[], %b: out f32[2]) {
  %s = scratch f32[2]
  cond %p then {
    memzero -> %s
  } else {
    memset -> %s (value = f32 1.0)
  }
  copy %s -> %b
})"},
    {"SamePredicateTwice", "clean", "clean", "clean", R"(
func @f(%p: in bool[], %b: out f32[2]) {
  %s = scratch f32[2]
  cond %p then {
    memzero -> %s
  }
  cond %p then {
    copy %s -> %b
  }
})"},
    {"OneSwitchBranchLacksIt", "uninitialised", "uninitialised", "uninitialised", R"(
func @f(%i: in s32[], %b: out f32[2]) {
  %s = scratch f32[2]
  switch %i branch {
    memzero -> %s
  } branch {
    memzero -> %s
  } branch {
  }
  copy %s -> %b
})"},
    {"TheLoopMayNotRun", "uninitialised", "uninitialised", "uninitialised", R"(
func @f(%n: inout s32[], %b: out f32[2]) {
  %s = scratch f32[2]
  %go = scratch bool[]
  while %go condition {
    map %n -> %go (f = |n| n > 0)
  } body {
    map %n -> %n (f = |n| n - 1)
    memzero -> %s
  }
  copy %s -> %b
})"},
    // Eager: the host reads the last condition before it issues the rest.
    {"LoopRacesWithTheRest", "clean", "race", "clean", R"(
func @f(%n: inout s32[], %a: in f32[2], %b: out f32[2]) {
  %go = scratch bool[]
  memzero -> %b
  %t = async_start (stream = computation 0) {
    while %go condition {
      map %n -> %go (f = |n| n > 0)
    } body {
      map %n -> %n (f = |n| n - 1)
      copy %a -> %b
    }
  }
  copy %a[0:1] -> %b[1:2]
  async_done %t
})"},
    {"EndlessLoopRaces", "race uninitialised", "race uninitialised", "clean", R"(
func @f(%n: in s32[], %b: out f32[2], %c: out f32[2]) {
  %go = scratch bool[]
  %t = async_start (stream = computation 0) {
    memzero -> %b
  }
  %u = async_start (stream = computation 1) {
    while %go condition {
      map %n -> %go (f = |n| n > 0)
    } body {
      copy %b -> %c
    }
  }
  async_done %t
  async_done %u
})"},
    {"EndlessLoopOfAnotherRank", "race", "race", "clean", R"(
mesh x = 2
func @f(%n: in s32[]) {
  %go = scratch bool[]
  while %go condition {
    map %n -> %go (f = |n| n == n)
  } body {
  }
}
func @g(%b: out f32[2]) {
  %t = async_start (stream = computation 0) {
    memzero -> %b
  }
  memzero -> %b
  async_done %t
}
entry @f on 0
entry @g on 1)"},
    {"PredicateIsWrittenWhileRead", "race", "race", "clean", R"(
func @f(%p: inout bool[], %b: out f32[2]) {
  %t = async_start (stream = computation 0) {
    map %p -> %p (f = |v| v == v)
  }
  cond %p then {
    memzero -> %b
  }
  async_done %t
})"},
    {"PredicateIsUndefined", "uninitialised", "uninitialised", "uninitialised", R"(
mesh x = 2
func @f(%a: inout f32[2]) {
  %p = scratch bool[]
  cond %p then {
    memzero -> %a
  }
})"},
    {"UndefinedPredicatesDiffer", "uninitialised deadlock", "uninitialised deadlock", "uninitialised deadlock", R"(
mesh x = 2
func @f(%a: inout f32[2]) {
  %p = scratch bool[]
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
})"},
    {"UniformGuard", "clean", "clean", "clean", R"(
mesh x = 2
func @f(%p: in bool[] (uniform = [x]), %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
})"},
    {"GuardOfOneRank", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%p: in bool[], %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
})"},
    {"GuardMadeUniform", "clean", "clean", "clean", R"(
mesh x = 2
func @f(%p: in bool[], %a: inout f32[2]) {
  %q = scratch bool[]
  broadcast %p -> %q (axis = x, root = 1)
  cond %q then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
})"},
    // One more collective on the ranks that take it shifts all later ones.
    {"GuardShiftsTheOrder", "mismatch", "mismatch", "mismatch", R"(
mesh x = 2
func @f(%p: in bool[], %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = max)
  }
  all_reduce %a -> %a (axis = x, reduction = sum)
})"},
    {"UniformOnOneAxisOnly", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2, y = 2
func @f(%p: in bool[] (uniform = [x]), %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = y, reduction = sum)
  }
})"},
    {"UniformOnTheAxisOfTheGroup", "clean", "clean", "clean", R"(
mesh x = 2, y = 2
func @f(%p: in bool[] (uniform = [x]), %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
})"},
    {"RootsDiffer", "mismatch", "mismatch", "mismatch", R"(
mesh x = 2
func @f(%a: inout f32[2]) {
  broadcast %a -> %a (axis = x, root = 0)
}
func @g(%a: inout f32[2]) {
  broadcast %a -> %a (axis = x, root = 1)
}
entry @f on 0
entry @g on 1)"},
    {"OrdersDifferOnOneCommunicator", "mismatch", "mismatch", "mismatch", R"(
mesh x = 2
func @f(%a: inout f32[2], %b: inout f32[4]) {
  all_reduce %a -> %a (axis = x, reduction = sum)
  all_reduce %b -> %b (axis = x, reduction = sum)
}
func @g(%a: inout f32[2], %b: inout f32[4]) {
  all_reduce %b -> %b (axis = x, reduction = sum)
  all_reduce %a -> %a (axis = x, reduction = sum)
}
entry @f on 0
entry @g on 1)"},
    {"OrdersDifferOnTwoCommunicators", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%a: inout f32[2], %b: inout f32[4]) {
  all_reduce %a -> %a (axis = x, reduction = sum)
  all_reduce %b -> %b (axis = x, reduction = sum, communicator = 1)
}
func @g(%a: inout f32[2], %b: inout f32[4]) {
  all_reduce %b -> %b (axis = x, reduction = sum, communicator = 1)
  all_reduce %a -> %a (axis = x, reduction = sum)
}
entry @f on 0
entry @g on 1)"},
    {"OneRankLacksIt", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%a: inout f32[2]) {
  all_reduce %a -> %a (axis = x, reduction = sum)
}
func @g(%a: inout f32[2]) {
  memzero -> %a
}
entry @f on 0
entry @g on 1)"},
    {"SendsFirst", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%a: in f32[2], %b: out f32[2]) {
  send %a (axis = x, peer = 1 - axis_index(x))
  recv -> %b (axis = x, peer = 1 - axis_index(x))
})"},
    {"SendAndRecvInAGroup", "clean", "clean", "clean", R"(
mesh x = 3
func @f(%a: in f32[2], %b: out f32[2]) {
  collective_group {
    send %a (axis = x, peer = (axis_index(x) + 1) mod 3)
    recv -> %b (axis = x, peer = (axis_index(x) + 2) mod 3)
  }
})"},
    {"RecvOfAnotherSize", "mismatch", "mismatch", "mismatch", R"(
mesh x = 2
func @f(%a: in f32[2]) {
  send %a (axis = x, peer = 1)
}
func @g(%a: out f32[2]) {
  recv -> %a[0:1] (axis = x, peer = 0)
}
entry @f on 0
entry @g on 1)"},
    // Eager: the ticket of the recv comes first. Captured: the edge of the communicator does.
    {"TicketsHoldTheSend", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%a: in f32[2], %b: out f32[2]) {
  %s = async_start (stream = communication 0) {
    recv -> %b (axis = x, peer = 1 - axis_index(x))
  }
  %t = async_start (stream = communication 1) {
    send %a (axis = x, peer = 1 - axis_index(x))
  }
  async_done %s
  async_done %t
})"},
    {"IndexGroupsDiffer", "deadlock", "deadlock", "deadlock", R"(
mesh x = 2
func @f(%a: inout f32[2]) {
  all_reduce %a -> %a (axis = x, reduction = sum, groups = [[0], [1]])
}
func @g(%a: inout f32[2]) {
  all_reduce %a -> %a (axis = x, reduction = sum)
}
entry @f on 0
entry @g on 1)"},
    {"PermuteReadsOnSourcesOnly", "clean", "clean", "clean", R"(
mesh x = 2
func @f(%a: in f32[2], %b: out f32[2]) {
  %s = scratch f32[2]
  copy %a -> %s
  collective_permute %s -> %b (axis = x, pairs = [0 -> 1])
}
func @g(%a: in f32[2], %b: out f32[2]) {
  %s = scratch f32[2]
  collective_permute %s -> %b (axis = x, pairs = [0 -> 1])
}
entry @f on 0
entry @g on 1)"},
    {"BroadcastReadsOnTheRootOnly", "uninitialised", "uninitialised", "uninitialised", R"(
mesh x = 2
func @f(%b: out f32[2]) {
  %s = scratch f32[2]
  broadcast %s -> %b (axis = x, root = 1)
}
func @g(%b: out f32[2]) {
  %s = scratch f32[2]
  broadcast %s -> %b (axis = x, root = 1)
}
entry @f on 0
entry @g on 1)"},
    {"CollectiveInFlightIsRead", "race", "race", "clean", R"(
mesh x = 2
func @f(%a: in f32[2], %b: inout f32[2], %c: out f32[2]) {
  %t = async_start (stream = communication 0) {
    all_reduce %a -> %b (axis = x, reduction = sum)
  }
  copy %b -> %c
  async_done %t
})"},
    // Each rank holds all SMs for the collective that the other one has not started.
    {"CtasCollide", "deadlock", "deadlock", "clean", R"(
mesh x = 2
func @f(%a: inout f32[2], %b: inout f32[2]) {
  %s = async_start (stream = communication 0) {
    all_reduce %a -> %a (axis = x, reduction = sum, max_ctas = 100, communicator = 0)
  }
  %t = async_start (stream = communication 1) {
    all_reduce %b -> %b (axis = x, reduction = sum, max_ctas = 100, communicator = 1)
  }
  async_done %s
  async_done %t
})"},
    {"CtasFit", "clean", "clean", "clean", R"(
mesh x = 2
func @f(%a: inout f32[2], %b: inout f32[2]) {
  %s = async_start (stream = communication 0) {
    all_reduce %a -> %a (axis = x, reduction = sum, max_ctas = 66, communicator = 0)
  }
  %t = async_start (stream = communication 1) {
    all_reduce %b -> %b (axis = x, reduction = sum, max_ctas = 66, communicator = 1)
  }
  async_done %s
  async_done %t
})"},
    {"CopyEnginesTakeNoSm", "clean", "clean", "clean", R"(
mesh x = 2
func @f(%a: in f32[2], %b: out f32[4], %c: in f32[2], %d: out f32[4]) {
  %s = async_start (stream = communication 0) {
    all_gather %a -> %b (axis = x, max_ctas = 100, communicator = 0)
  }
  %t = async_start (stream = communication 1) {
    all_gather %c -> %d (axis = x, max_ctas = 100, communicator = 1, algorithm = copy_engine)
  }
  async_done %s
  async_done %t
})"},
    // The kernel's result is what it is: both ways are tried.
    {"KernelDecides", "uninitialised", "uninitialised", "uninitialised", R"(
source @p = ptx ""
func @f(%a: in s32[], %b: out f32[2]) {
  %go = scratch bool[]
  %s = scratch f32[2]
  kernel %a -> %go (source = @p, entry = "k", grid = [1, 1, 1], block = [1, 1, 1])
  cond %go then {
    memzero -> %s
  }
  copy %s -> %b
})"},
    {"HostCopies", "race", "race", "clean", R"(
func @f(%a: in host f32[2], %b: out host f32[2]) {
  %s = scratch f32[2]
  copy %a -> %s
  %t = async_start (stream = computation 0) {
    copy %s -> %b
  }
  copy %a -> %s
  async_done %t
})"},
};

class Explorer : public ::testing::TestWithParam<Known> {};

TEST_P(Explorer, FindsWhatIsKnown) {
  const Known& known = GetParam();
  const std::string text = fmt::format("stave 1\n{}\n", known.body);
  const std::string_view expected[] = {known.eager, known.captured, known.captured_serial};
  for (const Mode mode : {Mode::Eager, Mode::Captured, Mode::CapturedSerial})
    for (const bool reduce : {true, false}) {
      const Result<Exploration> result = explored(text, mode, {.reduce = reduce});
      ASSERT_TRUE(result) << to_text(result.problems()[0]);
      EXPECT_EQ(verdict(*result), expected[static_cast<std::size_t>(mode)])
          << name_of(mode) << (reduce ? ", reduced" : ", all interleavings");
    }
}

INSTANTIATE_TEST_SUITE_P(Known, Explorer, ::testing::ValuesIn(known_programs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ExplorerWitness, IsARun) {
  const Result<Exploration> result = explored(
      "stave 1\nmesh x = 2\nfunc @f(%p: in bool[], %a: inout f32[2]) {\n  cond %p then {\n"
      "    all_reduce %a -> %a (axis = x, reduction = sum)\n  }\n}\n",
      Mode::Eager, {});
  ASSERT_TRUE(result && result->shows(Defect::Deadlock));
  const Witness& witness = *result->witnesses[static_cast<std::size_t>(Defect::Deadlock)];
  EXPECT_EQ(witness.what, "no rank can go on; rank 0: main is in f/all_reduce#1");
  EXPECT_EQ(witness.inputs, (std::vector<std::string>{"rank 0 %p = 1", "rank 1 %p = 0"}));
  EXPECT_EQ(witness.steps, (std::vector<std::string>{"rank 0: main begins f/cond#1", "rank 1: main begins f/cond#1",
                                                     "rank 0: main ends f/cond#1", "rank 1: main ends f/cond#1",
                                                     "rank 0: main starts f/all_reduce#1"}));
}

TEST(ExplorerLimits, AreErrors) {
  const std::string many =
      "stave 1\nmesh x = 4\nfunc @f(%p: in bool[4], %a: inout f32[2]) {\n  cond %p[0] then {\n    memzero -> %a\n  "
      "}\n}\n";
  const Result<Exploration> inputs = explored(many, Mode::Eager, {.max_inputs = 100});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.problems()[0].code, "STV0915");
  const Result<Exploration> states = explored(many, Mode::Eager, {.max_states = 3, .max_inputs = 1 << 20});
  ASSERT_FALSE(states);
  EXPECT_EQ(states.problems()[0].code, "STV0914");
  const Result<Exploration> bytes = explored(many, Mode::Eager, {.max_bytes = 11});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.problems()[0].code, "STV0916");
}

}  // namespace
}  // namespace stave
