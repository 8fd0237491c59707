#include "workbench/demo.h"

#include <algorithm>
#include <vector>

#include "core/base/sha256.h"
#include "core/ir/interpret/inputs.h"
#include "core/ir/interpret/number.h"
#include "core/text/parse.h"
#include "workbench/check.h"
#include "workbench/execute.h"
#include "workbench/predict.h"
#include "workbench/templates.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

constexpr std::int64_t m = 64, k = 128, n = 64;  // small: a CPU multiplies

Result<Schedule> built_in(std::string_view name) {
  for (const Template& t : templates()) {
    if (t.name != name) continue;
    TRY(Module module, parse(std::string(name) + ".stave", t.text));
    return Schedule{std::string(name) + ".stave", std::string(t.text), sha256(t.text),
                    std::make_shared<const Module>(std::move(module))};
  }
  return error_at({}, "STV0911", "no template '{}'", name);
}

Result<std::vector<double>> random_input(std::string_view parameter, std::vector<std::int64_t> shape, Rank rank) {
  TRY(const std::vector<std::byte> bytes, fill_input({{std::string(parameter), InputSpec::Kind::Random, 0, {}}, {}},
                                                     {parameter, Dtype::BF16, shape, rank, 2, rank}));
  std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1]));
  load_doubles(bytes, Dtype::BF16, 0, values.size(), values.data());
  return values;
}

// [rows, k] x [k, n], row-major, in double.
std::vector<double> product_of(const std::vector<double>& a, const std::vector<double>& b) {
  const auto inner = static_cast<std::size_t>(k), columns = static_cast<std::size_t>(n);
  std::vector<double> c(a.size() / inner * columns, 0);
  for (std::size_t row = 0; row * inner < a.size(); ++row)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t column = 0; column < columns; ++column)
        c[row * columns + column] += a[row * inner + i] * b[i * columns + column];
  return c;
}

// How many elements of C differ from the gathered A times B by more than the dtype's tolerance.
Result<BufferComparison> compare_with_plain_matmul(const Executed& executed) {
  std::vector<double> gathered;
  for (Rank rank = 0; rank < executed.ranks; ++rank) {
    TRY(const std::vector<double> a, random_input("a", {m, k}, rank));
    gathered.insert(gathered.end(), a.begin(), a.end());
  }
  BufferComparison all;
  for (const Output& output : executed.outputs) {
    TRY(const std::vector<double> b, random_input("b", {k, n}, output.rank));
    const std::vector<double> expected = product_of(gathered, b);
    std::vector<std::byte> bytes(output.bytes.size());
    store_doubles(bytes, Dtype::BF16, 0, expected.size(), expected.data());
    TRY(const BufferComparison one, compare_buffers(bytes, output.bytes, Dtype::BF16, expected.size()));
    all.elements += one.elements;
    all.mismatches += one.mismatches;
    all.max_abs = std::max(all.max_abs, one.max_abs);
    all.tolerance = one.tolerance;
  }
  return all;
}

}  // namespace

Result<void> demo(const DemoOptions& options, const std::function<void(std::string_view)>& say) {
  TRY(const Schedule ring, built_in("ring-matmul"));
  say(ring.text);

  TRY(const CheckReport report, check_schedule(ring, {}, Mode::Eager));
  say(fmt::format("\n1. check: {}, {} errors\n", report.verdict(), report.errors));
  for (const Finding& finding : report.findings)
    if (finding.problem.severity == Severity::Error) return Failure(finding.problem);

  const ParamValues small = {{"m", std::to_string(m)}, {"k", std::to_string(k)}, {"n", std::to_string(n)}};
  TRY(const Executed executed, execute(ring, {.params = small}));
  if (!executed.report.finished()) return error_at({}, "STV0911", "{}", to_text(*executed.report.hang));
  TRY(const BufferComparison comparison, compare_with_plain_matmul(executed));
  say(fmt::format("2. run on the CPU, {} ranks, m = {}, k = {}, n = {}, against a plain matmul: {}\n", executed.ranks,
                  m, k, n, to_text(comparison)));
  if (!comparison.equal()) return error_at({}, "STV0911", "the ring's result differs from a plain matmul");

  TRY(const Predicted predicted, predict(ring, {}));
  say(fmt::format("3. predict, m = 4096, k = 8192, n = 4096\n\n{}", predict_text(ring, predicted)));

  TRY(const Schedule baseline, built_in("all-gather-matmul"));
  TRY(const Predicted unhidden, predict(baseline, {}));
  TRY(const Predicted captured, predict(ring, {.mode = Mode::Captured}));
  say(fmt::format(
      "\n4. the same product in other ways\n"
      "   all-gather, then one gemm      {:>12}\n"
      "   ring, eager                    {:>12}\n"
      "   ring, captured in a CUDA graph {:>12}\n",
      duration_text(unhidden.prediction.summary.makespan), duration_text(predicted.prediction.summary.makespan),
      duration_text(captured.prediction.summary.makespan)));

  TRY_VOID(save(ring, predicted, options.output));
  say(fmt::format("\nstored in {}; next: stave report {}\n", options.output, options.output));
  return {};
}

}  // namespace stave
