#include "tests/conformance/harness.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/files.h"
#include "core/text/parse.h"
#include "executor/drivers.h"

namespace stave::conformance {
namespace {

using Bytes = std::vector<std::byte>;

std::string words(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += to_text(problem) + "\n";
  return text;
}

template <class T>
void put(Bytes& bytes, std::size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}
template <class T>
T get(const Bytes& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// The upper half of an f32, rounded to nearest even.
std::uint16_t bf16_of(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

bool encode(Bytes& bytes, Dtype dtype, const Numbers& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    switch (dtype) {
      case Dtype::Bool: put<std::uint8_t>(bytes, i, v != 0); break;
      case Dtype::S4:
      case Dtype::U4: {
        const auto low = static_cast<unsigned>(static_cast<int>(v)) & 15U;
        const auto old = get<std::uint8_t>(bytes, i / 2);
        put<std::uint8_t>(bytes, i / 2,
                          static_cast<std::uint8_t>(i % 2 == 0 ? (old & 0xf0U) | low : (old & 0x0fU) | low << 4));
        break;
      }
      case Dtype::S8: put(bytes, i, static_cast<std::int8_t>(v)); break;
      case Dtype::U8: put(bytes, i, static_cast<std::uint8_t>(v)); break;
      case Dtype::S32: put(bytes, i, static_cast<std::int32_t>(v)); break;
      case Dtype::U32: put(bytes, i, static_cast<std::uint32_t>(v)); break;
      case Dtype::S64: put(bytes, i, static_cast<std::int64_t>(v)); break;
      case Dtype::BF16: put(bytes, i, bf16_of(v)); break;
      case Dtype::F32: put(bytes, i, static_cast<float>(v)); break;
      case Dtype::F64: put(bytes, i, v); break;
      default: return false;
    }
  }
  return true;
}

std::optional<Numbers> decode(const Bytes& bytes, Dtype dtype, std::size_t count) {
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) {
    switch (dtype) {
      case Dtype::Bool:
      case Dtype::U8: values[i] = get<std::uint8_t>(bytes, i); break;
      case Dtype::S4:
      case Dtype::U4: {
        const int nibble = (get<std::uint8_t>(bytes, i / 2) >> (i % 2 == 0 ? 0 : 4)) & 15;
        values[i] = dtype == Dtype::S4 && nibble > 7 ? nibble - 16 : nibble;
        break;
      }
      case Dtype::S8: values[i] = get<std::int8_t>(bytes, i); break;
      case Dtype::S32: values[i] = get<std::int32_t>(bytes, i); break;
      case Dtype::U32: values[i] = get<std::uint32_t>(bytes, i); break;
      case Dtype::S64: values[i] = static_cast<double>(get<std::int64_t>(bytes, i)); break;
      case Dtype::BF16: values[i] = from_bf16(get<std::uint16_t>(bytes, i)); break;
      case Dtype::F32: values[i] = get<float>(bytes, i); break;
      case Dtype::F64: values[i] = get<double>(bytes, i); break;
      default: return std::nullopt;
    }
  }
  return values;
}

std::size_t elements(const Buffer& buffer) {
  std::size_t n = 1;
  for (const std::int64_t d : buffer.shape) n *= static_cast<std::size_t>(d);
  return n;
}

constexpr std::byte unwritten{0x5a};

Result<void> write_inputs(Execution& execution, const Plan& plan, const std::vector<Input>& inputs) {
  std::vector<int> used(inputs.size());
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& expanded = plan.of_rank(rank).expanded;
    for (const BufferId id : expanded.parameters) {
      const Buffer& buffer = expanded.buffers[id];
      const std::string_view name = expanded.module->text(buffer.name);
      Bytes bytes(static_cast<std::size_t>(buffer.bytes), unwritten);
      bool given = buffer.direction == Direction::Out;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].parameter != name || (inputs[i].rank && *inputs[i].rank != rank)) continue;
        if (inputs[i].values.size() != elements(buffer))
          return error_at({}, "", "input {} has {} numbers, the buffer {}", name, inputs[i].values.size(),
                          elements(buffer));
        if (!encode(bytes, buffer.dtype, inputs[i].values))
          return error_at({}, "", "no numbers for {}", name_of(buffer.dtype));
        given = true;
        ++used[i];
      }
      if (!given) return error_at({}, "", "rank {} has no input for {}", rank, name);
      TRY_VOID(execution.write(rank, id, bytes));
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (used[i] == 0) return error_at({}, "", "nothing takes input {}", inputs[i].parameter);
  return {};
}

Result<void> read_parameters(Execution& execution, const Plan& plan, Outcome& run) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& expanded = plan.of_rank(rank).expanded;
    for (const BufferId id : expanded.parameters) {
      const Buffer& buffer = expanded.buffers[id];
      Bytes bytes(static_cast<std::size_t>(buffer.bytes));
      TRY_VOID(execution.read(rank, id, bytes));
      std::optional<Numbers> values = decode(bytes, buffer.dtype, elements(buffer));
      if (!values) return error_at({}, "", "no numbers for {}", name_of(buffer.dtype));
      run.parameters[{rank, std::string(expanded.module->text(buffer.name))}] = *std::move(values);
    }
  }
  return {};
}

// The test goes on, on the reference driver, but is no test of the driver then.
void count_as_skipped(std::size_t ranks, std::uint32_t most) {
  GTEST_SKIP() << ranks << " ranks; " << driver_under_test << " runs " << most << " here";
}

Result<Outcome> try_run(const Program& program, const RunOptions& options, const std::vector<Input>& inputs) {
  TRY(const Plan plan, plan_of(program, options.mode, options.params));
  std::unique_ptr<Driver> driver = driver_named(driver_under_test);
  if (!driver) return error_at({}, "", "there is no driver {}", driver_under_test);
  const std::uint32_t most = driver->info().max_ranks;
  const bool fits = most == 0 || plan.ranks() <= most;
  ++(fits ? ran_here : ran_on_reference);
  if (!fits) {
    count_as_skipped(plan.ranks(), most);
    driver = driver_named("reference");
  }
  PrepareOptions prepare;
  prepare.seed = options.seed;
  prepare.timeout = std::chrono::seconds(3);
  prepare.name_hangs = options.name_hangs;
  TRY(std::unique_ptr<Execution> execution, driver->prepare(plan, prepare));
  TRY_VOID(write_inputs(*execution, plan, inputs));
  Outcome run;
  for (int step = 0; step < options.steps; ++step) {
    TRY(const StepReport report, run_step(*execution));
    if (report.hang) {
      run.failed = "hang: " + to_text(*report.hang);
      run.hangs = true;
      return run;
    }
    run.counts.assign(plan.ranks(), {});
    for (Rank rank = 0; rank < plan.ranks(); ++rank)
      for (std::size_t i = 0; i < report.executed[rank].size(); ++i)
        run.counts[rank][plan.of_rank(rank).expanded.path(CommandId{i})] = report.executed[rank][i];
  }
  TRY_VOID(read_parameters(*execution, plan, run));
  return run;
}

std::string examples_folder() { return std::string(STAVE_SOURCE_DIR) + "/examples"; }

}  // namespace

std::string_view driver_under_test = "reference";
int ran_here = 0, ran_on_reference = 0;

Program example(std::string_view name) {
  const std::string path = examples_folder() + "/" + std::string(name) + ".stave";
  const Result<std::string> text = read_file(path);
  if (!text) ADD_FAILURE() << words(text.problems());
  return {std::string(name) + ".stave", text ? *text : ""};
}

Program with(Program program, std::string_view from, std::string_view to) {
  std::size_t found = 0;
  for (std::size_t at = program.text.find(from); at != std::string::npos;
       at = program.text.find(from, at + to.size())) {
    program.text.replace(at, from.size(), to);
    ++found;
  }
  if (found == 0) ADD_FAILURE() << program.name << " has no " << from;
  return program;
}

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(examples_folder()))
    if (entry.path().extension() == ".stave") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

const Numbers& Outcome::of(Rank rank, const std::string& parameter) const {
  static const Numbers nothing;
  const auto found = parameters.find({rank, parameter});
  if (found != parameters.end()) return found->second;
  ADD_FAILURE() << "rank " << rank << " has no " << parameter << "; " << failed;
  return nothing;
}

std::int64_t Outcome::count(Rank rank, const std::string& path) const {
  if (rank < counts.size()) {
    const auto found = counts[rank].find(path);
    if (found != counts[rank].end()) return found->second;
  }
  std::string known;
  if (rank < counts.size())
    for (const auto& [name, n] : counts[rank]) known += " " + name;
  ADD_FAILURE() << "rank " << rank << " has no command " << path << "; it has:" << known << failed;
  return -1;
}

Outcome run(const Program& program, const RunOptions& options, const std::vector<Input>& inputs) {
  Result<Outcome> run = try_run(program, options, inputs);
  if (run) return *std::move(run);
  return {.failed = words(run.problems()), .parameters = {}, .counts = {}};
}

Result<Expansion> expansion_of(const Program& program, const Params& params) {
  TRY(Module module, parse(program.name, program.text));
  return expand_and_verify(std::make_shared<const Module>(std::move(module)), {.params = params});
}

std::string problems_of(const Program& program, const Params& params) {
  const Result<Expansion> expansion = expansion_of(program, params);
  return expansion ? "" : words(expansion.problems());
}

Result<Plan> plan_of(const Program& program, Mode mode, const Params& params) {
  TRY(Expansion expansion, expansion_of(program, params));
  return lower(std::move(expansion), mode);
}

Numbers random_numbers(std::uint64_t seed, std::size_t count) {
  Numbers values(count);
  // Knuth's MMIX generator; its upper bits are good.
  std::uint64_t state = seed * 2 + 1;
  for (double& v : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    v = (static_cast<double>(state >> 57) - 64) / 64;
  }
  return values;
}

Numbers matmul(const Numbers& a, const Numbers& b, std::size_t m, std::size_t k, std::size_t n) {
  Numbers c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}

Numbers sum(const Numbers& a, const Numbers& b) {
  Numbers c = a;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += b[i];
  return c;
}

Numbers part(const Numbers& a, std::size_t first, std::size_t count) {
  const auto begin = a.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

Numbers joined(const Numbers& a, const Numbers& b) {
  Numbers c = a;
  c.insert(c.end(), b.begin(), b.end());
  return c;
}

testing::AssertionResult near(const Numbers& actual, const Numbers& expected, double relative, double absolute) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= absolute + relative * std::abs(expected[i])))
      return testing::AssertionFailure() << "element " << i << " is " << actual[i] << ", expected " << expected[i];
  return testing::AssertionSuccess();
}

}  // namespace stave::conformance
