#include "workbench/execute.h"

#include <algorithm>

#include "core/ir/interpret/inputs.h"
#include "core/ir/interpret/npy.h"
#include "core/ir/interpret/operand.h"
#include "executor/drivers.h"
#include "workbench/gpu_process.h"
#include "workbench/outputs.h"
#include "workbench/work.h"

namespace stave {
namespace {

struct FileFor {
  std::string parameter;
  std::string path;
};

Result<std::vector<FileFor>> files_for(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<FileFor> out;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return error_at({}, "STV0901", "{} {}: write it as PARAMETER=FILE.npy", option, text);
    std::string path = text.substr(equals + 1);
    if (!path.ends_with(".npy"))
      return error_at({}, "STV0901", "{} {}: the file's name must end in .npy", option, text);
    out.push_back({text.substr(0, equals), std::move(path)});
  }
  return out;
}

// A parameter of one rank, where its entry has one of that name.
const Buffer* parameter_of(const Expanded& expanded, std::string_view name) {
  for (const BufferId id : expanded.parameters)
    if (expanded.module->text(expanded.buffers[id].name) == name) return &expanded.buffers[id];
  return nullptr;
}

Result<void> known(const Plan& plan, std::string_view option, std::string_view name, bool written) {
  std::string names;
  for (const RankClass& rank_class : plan.classes) {
    if (const Buffer* buffer = parameter_of(rank_class.expanded, name)) {
      if (written && buffer->direction == Direction::In)
        return error_at({}, "STV0902", "{} {}: the schedule only reads it", option, name);
      return {};
    }
    for (const BufferId id : rank_class.expanded.parameters)
      names += fmt::format("{}{}", names.empty() ? "" : ", ",
                           rank_class.expanded.module->text(rank_class.expanded.buffers[id].name));
  }
  return error_at({}, "STV0902", "{} {}: no parameter of that name; there are {}", option, name, names);
}

Result<void> write_inputs(const Plan& plan, const std::vector<Input>& inputs, Execution& execution,
                          Progress* progress) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& expanded = plan.of_rank(rank).expanded;
    for (const BufferId id : expanded.parameters) {
      const Buffer& buffer = expanded.buffers[id];
      const std::string_view name = expanded.module->text(buffer.name);
      if (buffer.direction == Direction::Out) continue;
      TRY_VOID(still_wanted(progress));
      Input input{{std::string(name), InputSpec::Kind::Random, 0, {}}, {}};
      for (const Input& given : inputs)
        if (given.spec.parameter == name) input = given;
      TRY(const std::vector<std::byte> bytes,
          fill_input(input, {name, buffer.dtype, buffer.shape, rank, plan.ranks(),
                             uniform_rank(expanded.mesh.sizes, buffer.uniform, rank)}));
      TRY_VOID(execution.write(rank, id, bytes));
    }
  }
  return {};
}

Result<std::vector<Output>> read_outputs(const Plan& plan, Execution& execution) {
  std::vector<Output> outputs;
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& expanded = plan.of_rank(rank).expanded;
    for (const BufferId id : expanded.parameters) {
      const Buffer& buffer = expanded.buffers[id];
      if (buffer.direction == Direction::In) continue;
      Output output{std::string(expanded.module->text(buffer.name)), rank, buffer.dtype, buffer.shape,
                    std::vector<std::byte>(static_cast<std::size_t>(buffer.bytes))};
      TRY_VOID(execution.read(rank, id, output.bytes));
      outputs.push_back(std::move(output));
    }
  }
  return outputs;
}

Result<void> save(const Executed& executed, const FileFor& file) {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> shape{0};
  Dtype dtype = Dtype::F32;
  for (const Output& output : executed.outputs) {
    if (output.parameter != file.parameter) continue;
    if (shape[0] > 0 && (dtype != output.dtype ||
                         !std::equal(shape.begin() + 1, shape.end(), output.shape.begin(), output.shape.end())))
      return error_at({}, "STV0903", "--save {}: its type differs between ranks, so that one file cannot hold it",
                      file.parameter);
    dtype = output.dtype;
    if (shape[0] == 0) shape.insert(shape.end(), output.shape.begin(), output.shape.end());
    ++shape[0];
    bytes.insert(bytes.end(), output.bytes.begin(), output.bytes.end());
  }
  return write_npy(file.path, dtype, shape, bytes);
}

Result<void> compare_with(const FileFor& file, Executed& executed) {
  TRY(const Input expected, load_input({file.parameter, InputSpec::Kind::File, 0, file.path}));
  for (const Output& output : executed.outputs) {
    if (output.parameter != file.parameter) continue;
    TRY(const std::vector<std::byte> bytes,
        fill_input(expected, {output.parameter, output.dtype, output.shape, output.rank, executed.ranks, output.rank}));
    const auto elements = static_cast<std::size_t>(elements_of(output.shape));
    TRY(BufferComparison comparison, compare_buffers(bytes, output.bytes, output.dtype, elements));
    executed.expectations.push_back({output.parameter, output.rank, comparison});
  }
  return {};
}

// The same in a child process.
Result<Executed> execute_on_gpu(const Schedule& schedule, const ExecuteOptions& options, const Plan& plan) {
  TRY(const std::string program, find_stave_gpu());
  GpuRequest request{schedule.file,  schedule.text,
                     options.params, options.mode,
                     options.inputs, options.ranks_per_device,
                     options.warmup, std::max(options.repeat, 1U)};
  request.timeout = options.timeout;
  request.duration = options.duration;
  request.profile = options.timeline != nullptr || options.record ? options.profile : Profile::Off;
  request.flush_l2 = options.flush_l2;
  request.name_hangs = options.name_hangs;
  if (options.progress) options.progress->begin("running on the GPU");
  TRY(GpuOutcome outcome, run_gpu_process(program, request, options.timeline, options.progress));
  Executed executed;
  executed.ranks = plan.ranks();
  executed.report = std::move(outcome.report);
  executed.gpu = std::move(outcome.gpu);
  for (const GpuStep& step : outcome.steps) {
    if (step.number < options.warmup || step.durations.empty()) continue;
    executed.durations.push_back(*std::max_element(step.durations.begin(), step.durations.end()));
    if (!step.issue.empty()) executed.issue.push_back(*std::max_element(step.issue.begin(), step.issue.end()));
  }
  for (const GpuBuffer& got : outcome.buffers) {
    if (got.rank >= plan.ranks()) continue;
    const Expanded& expanded = plan.of_rank(got.rank).expanded;
    if (got.parameter >= expanded.parameters.size()) continue;
    const Buffer& buffer = expanded.buffers[expanded.parameters[got.parameter]];
    const auto bytes = std::as_bytes(std::span(got.bytes));
    executed.outputs.push_back({std::string(expanded.module->text(buffer.name)), got.rank, buffer.dtype, buffer.shape,
                                std::vector<std::byte>(bytes.begin(), bytes.end())});
  }
  return executed;
}

}  // namespace

bool Executed::as_expected() const {
  return std::all_of(expectations.begin(), expectations.end(),
                     [](const Expectation& e) { return e.comparison.equal(); });
}

Result<Executed> execute(const Schedule& schedule, const ExecuteOptions& options) {
  const bool on_gpu = options.backend == "cuda";
  const std::unique_ptr<Driver> driver = driver_named(options.backend);
  if (driver == nullptr && !on_gpu) {
    std::string names;
    for (const DriverEntry& entry : drivers()) names += fmt::format("{}, ", entry.name);
    names += "cuda";
    return error_at({}, "STV0904", "no backend '{}'; there are {}", options.backend, names);
  }
  if (options.progress) options.progress->begin("expanding");
  TRY(Expansion expansion, expand_and_verify(schedule.module, {.params = options.params}));
  TRY(const Plan plan, lower(std::move(expansion), options.mode));

  std::vector<Input> inputs;
  for (const std::string& text : options.inputs) {
    TRY(InputSpec spec, parse_input_spec(text));
    TRY_VOID(known(plan, "--input", spec.parameter, false));
    TRY(Input input, load_input(std::move(spec)));
    inputs.push_back(std::move(input));
  }
  TRY(const std::vector<FileFor> saves, files_for("--save", options.saves));
  TRY(const std::vector<FileFor> expects, files_for("--expect", options.expects));
  for (const FileFor& file : saves) {
    TRY_VOID(known(plan, "--save", file.parameter, true));
    TRY_VOID(check_output({"--save", file.path, OutputKind::Array}, options.replace));
  }
  for (const FileFor& file : expects) TRY_VOID(known(plan, "--expect", file.parameter, true));

  if (on_gpu) {
    TRY(Executed executed, execute_on_gpu(schedule, options, plan));
    if (!executed.report.finished()) return executed;
    for (const FileFor& file : saves) TRY_VOID(save(executed, file));
    for (const FileFor& file : expects) TRY_VOID(compare_with(file, executed));
    return executed;
  }
  const bool computes = driver->info().computes;
  const Work work = work_of(plan);
  if (computes && options.note)
    if (const std::optional<Problem> slow = slow_note(schedule, options.params, work)) options.note(*slow);
  TRY(const std::unique_ptr<Execution> execution,
      driver->prepare(plan, {.seed = options.seed, .progress = options.progress}));
  Executed executed;
  executed.ranks = plan.ranks();
  if (options.progress) options.progress->begin("filling the inputs");
  TRY_VOID(write_inputs(plan, inputs, *execution, options.progress));
  if (options.progress)
    options.progress->begin(
        "running", work.commands ? *work.commands + static_cast<std::int64_t>(std::min(work.multiply_adds, 9e18)) : 0);
  TRY(executed.report, run_step(*execution));
  if (!executed.report.finished() || !computes) return executed;
  TRY(executed.outputs, read_outputs(plan, *execution));
  for (const FileFor& file : saves) TRY_VOID(save(executed, file));
  for (const FileFor& file : expects) TRY_VOID(compare_with(file, executed));
  return executed;
}

}  // namespace stave
