#include "analysis/edits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/text/parse.h"
#include "core/text/print.h"

namespace stave {
namespace {

constexpr const char* exchange = R"(stave 1
mesh x = 2
param n = 1048576 in [262144, 1048576]

func @exchange(%a: in f32[n], %b: out f32[n], %c: out f32[n]) {
  %t = async_start (stream = communication 0) {
    collective_permute %a -> %b (axis = x, shift = 1)
  }
  map %a -> %c (f = |v| v * 2.0)
  async_done %t
}
)";

Situation exchange_on_h200() {
  Result<Module> module = parse("exchange.stave", exchange);
  EXPECT_TRUE(module);
  Result<Machine> machine = load_machine(STAVE_SOURCE_DIR "/machines/h200-x2.toml");
  EXPECT_TRUE(machine);
  return {std::make_shared<const Module>(*std::move(module)), *std::move(machine), {}};
}

Picoseconds makespan_with(const Edits& edits, Mode mode = Mode::Eager) {
  const Result<Situation> edited = apply_edits(exchange_on_h200(), edits);
  EXPECT_TRUE(edited) << to_text(edited.problems()[0]);
  const Result<SituationPrediction> predicted = predict(*edited, mode);
  EXPECT_TRUE(predicted) << to_text(predicted.problems()[0]);
  return predicted->prediction.summary.makespan;
}

TEST(Edits, ChangeWhatIsPredicted) {
  const Picoseconds before = makespan_with({});
  EXPECT_LT(makespan_with({MachineEdit{"link.peer.bandwidth_bytes_per_s", 2, true}}), before);
  EXPECT_EQ(makespan_with({MachineEdit{"link.device.bandwidth_bytes_per_s", 2, true}}),
            makespan_with({MachineEdit{"link.peer.bandwidth_bytes_per_s", 2, true}}));
  EXPECT_GT(makespan_with({MachineEdit{"device.*_bandwidth_bytes_per_s", 0.01, true}}), before);
  EXPECT_GT(makespan_with({MachineEdit{"host.*", 10, true}}), before);
  EXPECT_GT(makespan_with({MachineEdit{"host.*launch_ps", 10, true}}), before);
  EXPECT_LT(makespan_with({ParamEdit{"n", "262144"}}), before);
  EXPECT_EQ(makespan_with({MachineEdit{"host.*", 10, true}, MachineEdit{"host.*", 0.1, true}}), before);
}

TEST(Edits, ApplyToACopyAndStandInItsText) {
  const Situation base = exchange_on_h200();
  const Edits edits{MachineEdit{"device.sm_count", 64}, MachineEdit{"link.pcie.latency_ps", 5e6}};
  const Result<Situation> edited = apply_edits(base, edits);
  ASSERT_TRUE(edited);
  EXPECT_EQ(number_of(base.machine, "device.sm_count"), 132);
  EXPECT_EQ(number_of(edited->machine, "device.sm_count"), 64);
  const Result<Machine> again = parse_machine("edited.toml", edited->machine.text, [](const std::string& csv) {
    return read_file(STAVE_SOURCE_DIR "/machines/" + csv);
  });
  ASSERT_TRUE(again) << to_text(again.problems()[0]);
  EXPECT_EQ(again->device, edited->machine.device);
  EXPECT_EQ(again->links, edited->machine.links);
  // The rows were measured on the device as it was.
  EXPECT_EQ(again->tables, edited->machine.tables);
  EXPECT_EQ(again->device.sm_count.source, "assumed: edited");
}

TEST(Edits, MoveACommandToAnotherStream) {
  // The collective inside names the async_start around it.
  const Situation base = exchange_on_h200();
  const StreamRef stream{StreamRef::Kind::Computation, 3};
  const Result<Situation> edited = apply_edits(base, Edits{StreamEdit{"exchange/collective_permute#1", stream}});
  ASSERT_TRUE(edited) << to_text(edited.problems()[0]);
  EXPECT_NE(print(*edited->module).find("async_start (stream = computation 3)"), std::string::npos);
  EXPECT_NE(print(*base.module).find("async_start (stream = communication 0)"), std::string::npos);
  const Result<SituationPrediction> predicted = predict(*edited, Mode::Eager);
  ASSERT_TRUE(predicted);
  EXPECT_EQ(std::ranges::count_if(predicted->prediction.timeline.tracks(),
                                  [](const Track& track) { return track.name == "computation 3"; }),
            2);
}

TEST(Edits, SayWhatIsWrong) {
  const auto code_of = [](const Edit& edit) {
    const Result<Situation> edited = apply_edits(exchange_on_h200(), Edits{edit});
    return edited ? std::string("none") : edited.problems()[0].code;
  };
  EXPECT_EQ(code_of(MachineEdit{"device.wings", 2}), "STV1930");
  EXPECT_EQ(code_of(MachineEdit{"device.sm_count", 1.5}), "STV1931");
  EXPECT_EQ(code_of(MachineEdit{"link.*.bandwidth_bytes_per_s", 0, true}), "STV1931");
  EXPECT_EQ(code_of(StreamEdit{"exchange/gemm#1", {}}), "STV1932");
  EXPECT_EQ(code_of(StreamEdit{"exchange/map#1", {StreamRef::Kind::Computation, 1}}), "STV1933");
}

TEST(Edits, OfTheSameThingReplaceEachOther) {
  Edits edits;
  set(edits, MachineEdit{"host.*", 2, true});
  set(edits, ParamEdit{"n", "262144"});
  set(edits, MachineEdit{"host.*", 3, true});
  set(edits, StreamEdit{"f/async_start#1", {StreamRef::Kind::Communication, 1}});
  EXPECT_EQ(to_text(edits), "host.* x 3, param n = 262144, f/async_start#1 on communication 1");
  ASSERT_NE(find(edits, ParamEdit{"n", ""}), nullptr);
  EXPECT_EQ(find(edits, MachineEdit{"device.*"}), nullptr);
}

}  // namespace
}  // namespace stave
