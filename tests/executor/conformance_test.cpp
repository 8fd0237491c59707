// Every driver in every mode gives what the reference driver gives eagerly, on all
// programs of examples/ and tests/run/. A new driver is a line in executor/drivers.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>

#include "core/base/files.h"
#include "core/ir/interpret/compare.h"
#include "core/ir/interpret/inputs.h"
#include "core/text/parse.h"
#include "executor/drivers.h"

namespace stave {
namespace {

constexpr std::int64_t max_iterations = 1000;  // some loops do not end with random input

struct Case {
  std::string program;
  std::string driver;
  Mode mode = Mode::Eager;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const Case& c, std::ostream* out) { *out << c.program << " on " << c.driver << ", " << name_of(c.mode); }

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name = fmt::format("{}_{}_{}", info.param.program, info.param.driver, name_of(info.param.mode));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::vector<Case> all_cases() {
  std::vector<std::string> programs;
  for (const std::string folder : {"examples", "tests/run"})
    for (const auto& file : std::filesystem::directory_iterator(std::string(STAVE_SOURCE_DIR) + "/" + folder))
      if (file.path().extension() == ".stave") programs.push_back(folder + "/" + file.path().filename().string());
  std::sort(programs.begin(), programs.end());
  std::vector<Case> cases;
  for (const std::string& program : programs)
    for (const DriverEntry& driver : drivers())
      for (const Mode mode : driver.create()->info().modes) cases.push_back({program, std::string(driver.name), mode});
  return cases;
}

// Large sizes are for a GPU: what is above 64 becomes 8.
ExpandOptions small_params(const Module& module) {
  ExpandOptions options;
  for (const ParamDecl& p : module.params) {
    const Expr& value = module.exprs[p.value];
    if (value.kind == ExprKind::Integer && value.as_integer() > 64)
      options.params.emplace_back(module.text(p.name), "8");
  }
  return options;
}

Result<Plan> plan_of_file(const std::string& program, Mode mode) {
  TRY(const std::string text, read_file(std::string(STAVE_SOURCE_DIR) + "/" + program));
  TRY(Module module, parse(program, text));
  const ExpandOptions options = small_params(module);
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module)), options));
  return lower(std::move(expansion), mode);
}

struct Outcome {
  std::string code;  // of the problem, "hang", or empty
  std::string text;
  std::vector<std::vector<std::byte>> buffers;  // parameters, by rank, then in order of their names
  std::vector<Dtype> dtypes;                    // of them
};

Outcome failed(const Problems& problems) { return {problems[0].code, to_text(problems[0]), {}, {}}; }

// Parameters by name, since ranks may run different entries.
std::vector<BufferId> by_name(const Expanded& e) {
  std::vector<BufferId> ids = e.parameters;
  std::sort(ids.begin(), ids.end(), [&](BufferId a, BufferId b) {
    return e.module->text(e.buffers[a].name) < e.module->text(e.buffers[b].name);
  });
  return ids;
}

Result<Outcome> run(Driver& driver, const Plan& plan) {
  PrepareOptions options;
  options.max_iterations = max_iterations;
  options.timeout = std::chrono::seconds(3);
  TRY(const std::unique_ptr<Execution> execution, driver.prepare(plan, options));
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& b = e.buffers[id];
      const std::string_view name = e.module->text(b.name);
      const InputTarget target{name, b.dtype, b.shape, rank, plan.ranks(), uniform_rank(e.mesh.sizes, b.uniform, rank)};
      TRY(const auto bytes, fill_input({{std::string(name), InputSpec::Kind::Random, 1, {}}, {}}, target));
      TRY_VOID(execution->write(rank, id, bytes));
    }
  }
  TRY(const StepReport report, run_step(*execution));
  Outcome outcome;
  outcome.text = report.text;
  if (report.hang) {
    outcome.code = "hang";
    outcome.text = to_text(*report.hang);
  }
  if (!driver.info().computes || report.hang) return outcome;
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : by_name(e)) {
      std::vector<std::byte>& bytes = outcome.buffers.emplace_back(static_cast<std::size_t>(e.buffers[id].bytes));
      TRY_VOID(execution->read(rank, id, bytes));
      outcome.dtypes.push_back(e.buffers[id].dtype);
    }
  }
  return outcome;
}

// Integers and bytes that were moved exactly, floats within docs/numerics.md's tolerance.
void expect_near(const Outcome& got, const Outcome& expected) {
  ASSERT_EQ(got.buffers.size(), expected.buffers.size());
  for (std::size_t i = 0; i < got.buffers.size(); ++i) {
    const std::size_t elements = expected.buffers[i].size() * 8 / static_cast<std::size_t>(bits_of(expected.dtypes[i]));
    const auto compared = compare_buffers(expected.buffers[i], got.buffers[i], expected.dtypes[i], elements);
    ASSERT_TRUE(compared) << to_text(compared.problems()[0]);
    EXPECT_TRUE(compared->equal()) << "parameter " << i << " of " << got.buffers.size() << ", "
                                   << name_of(expected.dtypes[i]) << ": " << to_text(*compared);
  }
}

Outcome outcome_of(Driver& driver, const Plan& plan) {
  const Result<Outcome> outcome = run(driver, plan);
  return outcome ? *outcome : failed(outcome.problems());
}

class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, EqualsTheReference) {
  const auto driver = driver_named(GetParam().driver);
  const Result<Plan> eager = plan_of_file(GetParam().program, Mode::Eager);
  const Result<Plan> plan = plan_of_file(GetParam().program, GetParam().mode);
  ASSERT_TRUE(eager) << to_text(eager.problems()[0]);
  if (!plan) GTEST_SKIP() << to_text(plan.problems()[0]);
  const std::uint32_t most = driver->info().max_ranks;
  if (most > 0 && plan->ranks() > most) GTEST_SKIP() << plan->ranks() << " ranks; " << most << " processes run it";
  const Outcome got = outcome_of(*driver, *plan);
  if (!driver->info().computes) {
    EXPECT_EQ(got.code, "");
    EXPECT_NE(got.text.find("stave-issue 1"), std::string::npos);
    return;
  }
  const Outcome expected = outcome_of(*driver_named("reference"), *eager);
  if (GetParam().mode == Mode::CapturedSerial && got.code == "hang" && expected.code.empty())
    GTEST_SKIP() << "a chain of nodes orders what the streams do not: " << got.text;
  if (expected.code == "STV0803") GTEST_SKIP() << "the reference has no meaning for it: " << expected.text;
  if (GetParam().driver == "cuda" && GetParam().program == "examples/cholesky.stave")
    GTEST_SKIP() << "random input is not positive definite, and what cuSOLVER leaves behind then is its own";
  if (GetParam().driver == "cuda" && expected.code == "STV0810" && got.code.empty())
    GTEST_SKIP() << "NCCL does not compare what ranks ask for; `stave run` checks before it uses a GPU";
  if (got.code == "STV0822") GTEST_SKIP() << "its source is none for a GPU: " << got.text;
  EXPECT_EQ(got.code, expected.code) << got.text << expected.text;
  if (GetParam().driver == "reference")
    EXPECT_TRUE(got.buffers == expected.buffers) << "the contents of a parameter differ";
  else
    expect_near(got, expected);
}

INSTANTIATE_TEST_SUITE_P(Programs, Conformance, testing::ValuesIn(all_cases()), name_of_case);

}  // namespace
}  // namespace stave
