// RUN: run [mode=M,...] [seeds=N] [input=NAME=WHAT ...] [print=NAME,...] [counts] [param=NAME=VALUE ...]
// [max_iterations=N] Runs on the reference driver and prints parameters of all ranks. Without mode= all three modes
// run, each in round robin and in N random orders (5), and must print the same. WHAT is what `stave run --input` takes,
// `rank` (the rank's number), or a number.
#include <algorithm>
#include <charconv>
#include <memory>

#include "core/ir/interpret/inputs.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"
#include "core/text/parse.h"
#include "executor/drivers.h"
#include "tests/modes/modes.h"

namespace stave {

namespace {

// The values of all KEY=V arguments.
std::vector<std::string_view> all_of(const FileTest& test, std::string_view key) {
  std::vector<std::string_view> values;
  for (const std::string& arg : test.args) {
    const std::string_view text = arg;
    if (text.substr(0, key.size()) == key && text.substr(key.size(), 1) == "=")
      values.push_back(text.substr(key.size() + 1));
  }
  return values;
}

bool lists(std::string_view names, std::string_view name) {
  return fmt::format(",{},", names).find(fmt::format(",{},", name)) != std::string::npos;
}

std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const std::size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Result<Plan> plan_of(const FileTest& test, Mode mode) {
  TRY(Module module, parse(test.name, test.input));
  ExpandOptions options;
  for (const std::string_view p : all_of(test, "param")) options.params.emplace_back(split(p));
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module)), options));
  return lower(std::move(expansion), mode);
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void fill(std::span<std::byte> bytes, Dtype dtype, std::int64_t elements, std::int64_t value) {
  for (std::int64_t i = 0; i < elements; ++i) {
    if (is_float(dtype))
      store_double(bytes, dtype, static_cast<std::size_t>(i), static_cast<double>(value));
    else
      store_signed(bytes, dtype, static_cast<std::size_t>(i), value);
  }
}

Result<void> write_input(Execution& execution, const Plan& plan, std::string_view text) {
  const auto [name, what] = split(text);
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& b = e.buffers[id];
      if (e.module->text(b.name) != name) continue;
      std::vector<std::byte> bytes(static_cast<std::size_t>(b.bytes));
      if (what == "rank" || what.find_first_not_of("-0123456789") == std::string_view::npos) {
        fill(bytes, b.dtype, elements_of(b.shape), what == "rank" ? std::int64_t{rank} : number(what));
      } else {
        TRY(InputSpec spec, parse_input_spec(text));
        TRY(const Input input, load_input(std::move(spec)));
        TRY(bytes, fill_input(input, {name, b.dtype, b.shape, rank, plan.ranks(),
                                      uniform_rank(e.mesh.sizes, b.uniform, rank)}));
      }
      TRY_VOID(execution.write(rank, id, bytes));
    }
  }
  return {};
}

std::string buffer_text(const Buffer& b, std::span<const std::byte> bytes) {
  std::string text;
  for (std::int64_t i = 0; i < elements_of(b.shape); ++i) {
    text += text.empty() ? "" : ", ";
    const auto at = static_cast<std::size_t>(i);
    const double value = load_double(bytes, b.dtype, at);
    if (!is_float(b.dtype))
      text += std::to_string(load_signed(bytes, b.dtype, at));
    else
      text += value != value ? "nan" : fmt::format("{}", value);
  }
  return text;
}

Result<std::string> outputs(Execution& execution, const Plan& plan, std::string_view names) {
  std::string text;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    for (Rank rank = 0; rank < plan.ranks(); ++rank) {
      const Expanded& e = plan.of_rank(rank).expanded;
      for (const BufferId id : e.parameters) {
        const Buffer& b = e.buffers[id];
        if (e.module->text(b.name) != name) continue;
        std::vector<std::byte> bytes(static_cast<std::size_t>(b.bytes));
        TRY_VOID(execution.read(rank, id, bytes));
        text += fmt::format("rank {} %{}: {}\n", rank, name, buffer_text(b, bytes));
      }
    }
  }
  return text;
}

std::string counts(const StepReport& report, const Plan& plan) {
  std::string text;
  for (Rank rank = 0; rank < plan.ranks(); ++rank)
    for (std::size_t i = 0; i < report.executed[rank].size(); ++i)
      if (report.executed[rank][i] > 0)
        text += fmt::format("rank {} {} x {}\n", rank, plan.of_rank(rank).expanded.path(CommandId{i}),
                            report.executed[rank][i]);
  return text;
}

Result<std::string> run_once(const FileTest& test, const Plan& plan, std::uint64_t seed) {
  PrepareOptions options;
  options.seed = seed;
  if (const std::string_view limit = test.option("max_iterations"); !limit.empty())
    options.max_iterations = number(limit);
  TRY(const std::unique_ptr<Execution> execution, driver_named("reference")->prepare(plan, options));
  for (const std::string_view input : all_of(test, "input")) TRY_VOID(write_input(*execution, plan, input));
  TRY(const StepReport report, run_step(*execution));
  if (!report.finished()) return to_text(*report.hang);
  TRY(std::string text, outputs(*execution, plan, test.option("print")));
  if (std::find(test.args.begin(), test.args.end(), "counts") != test.args.end()) text += counts(report, plan);
  return text;
}

}  // namespace

std::string run_run(const FileTest& test) {
  const std::string_view wanted = test.option("mode", "all");
  const auto seeds = static_cast<std::uint64_t>(number(test.option("seeds", "5")));
  std::optional<std::string> first;
  for (const Mode mode : {Mode::Eager, Mode::Captured, Mode::CapturedSerial}) {
    if (wanted != "all" && !lists(wanted, name_of(mode))) continue;
    const Result<Plan> plan = plan_of(test, mode);
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
      const Result<std::string> ran = plan ? run_once(test, *plan, seed) : Failure(Problems(plan.problems()));
      const std::string text = ran ? *ran : text_of(ran.problems());
      if (!first) first = text;
      if (text != *first)
        return fmt::format("{}other result with mode={}, seed {}:\n{}", *first, name_of(mode), seed, text);
    }
  }
  return first.value_or("");
}

}  // namespace stave
