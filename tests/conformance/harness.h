// Runs a program on the reference driver from numbers to numbers. Conversions between
// numbers and bytes are written here again, so that what a test expects shares no code
// with what it tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/lower/plan.h"

namespace stave::conformance {

// "reference", unless a program's main says otherwise.
extern std::string_view driver_under_test;
// Plans that it ran, and those that have more ranks than it takes here: their tests count as skipped.
extern int ran_here, ran_on_reference;

// The elements of a buffer, row-major. Exact for all dtypes that `run` takes: bool, s4,
// u4, s8, u8, s32, u32, bf16, f32, f64, and s64 up to 2^53.
using Numbers = std::vector<double>;

struct Program {
  std::string name;
  std::string text;
};
Program example(std::string_view name);                                     // examples/NAME.stave
Program with(Program program, std::string_view from, std::string_view to);  // all of `from` replaced
std::vector<std::string> example_names();                                   // ascending

struct Input {
  std::string parameter;
  Numbers values;
  std::optional<Rank> rank = std::nullopt;  // none: all ranks
};

using Params = std::vector<std::pair<std::string, std::string>>;
struct RunOptions {
  Mode mode = Mode::Eager;
  Params params{};
  std::uint64_t seed = 0;  // which order among actions that may run now
  int steps = 1;
  bool name_hangs = false;  // PrepareOptions
};

struct Outcome {
  std::string failed;  // why it did not end, in words; empty: it did
  bool hangs = false;  // `failed` is the text of a hang
  std::map<std::pair<Rank, std::string>, Numbers> parameters;
  std::vector<std::map<std::string, std::int64_t>> counts;  // by rank, path: executions in the last step

  bool ok() const { return failed.empty(); }
  const Numbers& of(Rank rank, const std::string& parameter) const;  // a failure if there is none
  const Numbers& operator[](const std::string& parameter) const { return of(0, parameter); }
  std::int64_t count(Rank rank, const std::string& path) const;  // a failure if there is none

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Outputs without an input start as bytes 0x5a, so that what is not written shows.
Outcome run(const Program& program, const RunOptions& options, const std::vector<Input>& inputs = {});

Result<Expansion> expansion_of(const Program& program, const Params& params = {});
// The problems of parse, expand and verify as text; empty if there are none.
std::string problems_of(const Program& program, const Params& params = {});
Result<Plan> plan_of(const Program& program, Mode mode, const Params& params = {});

// Multiples of 1/64 in [-1, 1): exact in bf16, and so are sums of 2^11 products in f32.
Numbers random_numbers(std::uint64_t seed, std::size_t count);
// Row-major m x k times k x n, summed in double.
Numbers matmul(const Numbers& a, const Numbers& b, std::size_t m, std::size_t k, std::size_t n);
Numbers sum(const Numbers& a, const Numbers& b);
Numbers part(const Numbers& a, std::size_t first, std::size_t count);
Numbers joined(const Numbers& a, const Numbers& b);
template <class F>
Numbers each(Numbers a, F f) {
  for (double& v : a) v = f(v);
  return a;
}

// |actual - expected| <= absolute + relative * |expected|, element by element.
testing::AssertionResult near(const Numbers& actual, const Numbers& expected, double relative, double absolute = 0);

class EveryMode : public testing::TestWithParam<Mode> {
 public:
  Outcome run_here(const Program& program, const std::vector<Input>& inputs = {}, const Params& params = {}) const {
    return run(program, {.mode = GetParam(), .params = params}, inputs);
  }
};
#define STAVE_IN_EVERY_MODE(Suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Mode, Suite, testing::Values(Mode::Eager, Mode::Captured, Mode::CapturedSerial), \
                           [](const auto& chosen) { return std::string(::stave::name_of(chosen.param)); })

}  // namespace stave::conformance
