// stave-gpu: runs one request on GPUs for its parent, `stave run --backend cuda`.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "core/base/sha256.h"
#include "core/ir/interpret/inputs.h"
#include "core/text/parse.h"
#include "executor/cuda/cuda_driver.h"
#include "executor/gpu_protocol.h"

namespace stave::cuda {
namespace {

constexpr int exit_machine = 3;

Result<void> send(GpuFrame kind, std::string_view payload) {
  return write_frame(gpu_pipe, static_cast<std::uint32_t>(kind), payload);
}

// The bytes of each parameter that is read: by rank, then as the entry has them; empty for outputs and for ranks of
// other processes.
using Inputs = std::vector<std::vector<std::vector<std::byte>>>;

Result<Inputs> inputs_of(const Plan& plan, const std::vector<int>& here, const std::vector<std::string>& specs) {
  std::vector<Input> given;
  for (const std::string& text : specs) {
    TRY(InputSpec spec, parse_input_spec(text));
    TRY(Input input, load_input(std::move(spec)));
    given.push_back(std::move(input));
  }
  Inputs inputs(plan.ranks());
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    if (here[rank] < 0) continue;
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& b = e.buffers[id];
      std::vector<std::byte>& bytes = inputs[rank].emplace_back();
      if (b.direction == Direction::Out) continue;
      const std::string_view name = e.module->text(b.name);
      Input input{{std::string(name), InputSpec::Kind::Random, 0, {}}, {}};
      for (const Input& g : given)
        if (g.spec.parameter == name) input = g;
      TRY(bytes,
          fill_input(input, {name, b.dtype, b.shape, rank, plan.ranks(), uniform_rank(e.mesh.sizes, b.uniform, rank)}));
    }
  }
  return inputs;
}

Result<void> write_inputs(const Plan& plan, const Inputs& inputs, bool first, Execution& execution) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (std::size_t i = 0; i < inputs[rank].size(); ++i) {
      const Direction direction = e.buffers[e.parameters[i]].direction;
      // What a step only reads is there already.
      if (direction == Direction::Out || (direction == Direction::In && !first)) continue;
      TRY_VOID(execution.write(rank, e.parameters[i], inputs[rank][i]));
    }
  }
  return {};
}

Result<void> send_outputs(const Plan& plan, Execution& execution) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (std::size_t i = 0; i < e.parameters.size(); ++i) {
      const Buffer& b = e.buffers[e.parameters[i]];
      if (b.direction == Direction::In) continue;
      GpuBuffer out{rank, static_cast<std::uint32_t>(i), std::string(static_cast<std::size_t>(b.bytes), '\0')};
      TRY_VOID(execution.read(rank, e.parameters[i], std::as_writable_bytes(std::span(out.bytes))));
      TRY_VOID(send(GpuFrame::Buffer, encode(out)));
    }
  }
  return {};
}

// Whether another step follows; the first process decides for all.
Result<bool> goes_on(bool own, World* world) {
  if (world == nullptr) return own;
  TRY(const std::vector<std::string> all,
      world->all_gather("another step", own ? "1" : "0", std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  return all[0] == "1";
}

// All processes must have been started for the same.
Result<void> same_request(const GpuRequest& request, World* world) {
  if (world == nullptr) return {};
  GpuRequest own = request;
  own.file.clear();  // may stand elsewhere on another machine
  TRY(const std::vector<std::string> all,
      world->all_gather("command line", sha256(encode(own)),
                        std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  for (std::size_t p = 1; p < all.size(); ++p)
    if (all[p] != all[0])
      return error_at({}, "STV0829", "process {} was started with another schedule or other options than process 0", p);
  return {};
}

[[noreturn]] void fail(const Problems& problems) {
  static_cast<void>(send(GpuFrame::Failed, encode(problems)));
  ::_exit(exit_machine);
}

Result<void> run(const GpuRequest& request) {
  // The recorder must be there before the first CUDA call.
  std::unique_ptr<Recorder> recorder;
  if (request.profile != Profile::Off) {
    TRY(recorder, Recorder::start(request.profile));
  }
  TRY(const std::optional<WorldPlace> place, world_place(::getenv));
  std::optional<World> joined;
  if (place) {
    TRY(World world, World::join(*place, std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    joined.emplace(std::move(world));
  }
  World* const world = joined ? &*joined : nullptr;
  TRY_VOID(same_request(request, world));
  TRY(const std::vector<Gpu> all, gpus());
  TRY(Module module, parse(request.file, request.text));
  TRY(Expansion expansion,
      expand_and_verify(std::make_shared<const Module>(std::move(module)), {.params = request.params}));
  TRY(const Plan plan, lower(std::move(expansion), request.mode));
  const CudaOptions cuda{request.ranks_per_device, request.warmup, request.flush_l2, recorder.get(), world};
  TRY(const std::vector<int> here, local_devices(plan.ranks(), all.size(), cuda));
  TRY(const Inputs inputs, inputs_of(plan, here, request.inputs));
  TRY(const std::vector<int> devices, all_devices(here, world));
  const std::size_t used = world ? plan.ranks() : std::set<int>(devices.begin(), devices.end()).size();
  TRY_VOID(send(GpuFrame::Gpu, fmt::format("{} x {}", used, all[0].name)));
  const std::unique_ptr<Driver> driver = create_cuda_driver(cuda);
  const auto sample = [&] {
    for (Rank rank = 0; recorder && rank < plan.ranks(); ++rank)
      if (here[rank] >= 0) recorder->sample(rank, here[rank]);
  };
  PrepareOptions options;
  options.timeout = request.timeout;
  options.name_hangs = request.name_hangs;
  TRY(const std::unique_ptr<Execution> execution, driver->prepare(plan, options));
  StepReport report;
  std::optional<Failure> failed;
  const std::uint32_t steps = request.warmup + std::max(request.repeat, 1U);
  auto end = std::chrono::steady_clock::now() + request.duration;
  for (std::uint32_t step = 0; !report.hang; ++step) {
    if (step == request.warmup) end = std::chrono::steady_clock::now() + request.duration;
    if (request.duration.count() == 0 && step >= steps) break;
    if (request.duration.count() > 0) {
      TRY(const bool another, goes_on(step < steps || std::chrono::steady_clock::now() < end, world));
      if (!another) break;
    }
    TRY_VOID(write_inputs(plan, inputs, step == 0, *execution));
    if (step == 0) sample();
    Result<StepReport> one = run_step(*execution);
    if (!one) {
      failed = Failure(std::move(one).problems());
      break;
    }
    report = *std::move(one);
    if (!report.hang) TRY_VOID(send(GpuFrame::Step, encode(GpuStep{step, report.durations, report.issue})));
    sample();
  }
  Result<void> recorded;
  if (recorder) {
    // Also after a hang or an error: what was recorded is kept.
    PipeSink sink([](FrameKind kind, std::string_view payload) {
      return write_frame(gpu_pipe, static_cast<std::uint32_t>(kind), payload);
    });
    recorded = recorder->finish(plan, devices, all[0].name, world, sink);
  }
  // What went wrong goes out before devices and communicators are taken down, which may take its time then.
  if (failed) fail(failed->problems);
  if (!recorded) fail(recorded.problems());
  if (!report.hang && request.outputs) TRY_VOID(send_outputs(plan, *execution));
  TRY_VOID(send(GpuFrame::Done, encode(report)));
  // A kernel that never returns would hold the destructors.
  if (report.hang) ::_exit(exit_machine);
  return {};
}

int serve() {
  Result<std::optional<PipeFrame>> frame = read_frame(STDIN_FILENO);
  if (!frame || !*frame || (*frame)->kind != static_cast<std::uint32_t>(GpuFrame::Request)) return exit_machine;
  const Result<GpuRequest> request = decode_request((*frame)->payload);
  const Result<void> ran = request ? run(*request) : Result<void>(Failure(request.problems()));
  if (ran) return 0;
  fail(ran.problems());
}

int list_devices() {
  const Result<std::vector<Gpu>> all = gpus();
  if (!all) {
    fmt::print("{}\n", all.problems()[0].message);
    return exit_machine;
  }
  for (const Gpu& g : *all)
    fmt::print("device {}: {}, compute capability {}.{}, {} SMs, {} MiB\n", g.device, g.name, g.capability / 10,
               g.capability % 10, g.multiprocessors, g.memory_bytes >> 20);
  return 0;
}

}  // namespace
}  // namespace stave::cuda

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a process of the run that is gone is an error, not the end
  stave::cuda::prepare_environment();
  if (argc > 1 && std::string_view(argv[1]) == "--devices") return stave::cuda::list_devices();
  if (::fcntl(stave::gpu_pipe, F_GETFD) < 0) {
    fmt::print(
        stderr,
        "stave-gpu runs for `stave run --backend cuda`, which talks to it over pipes; --devices lists the GPUs\n");
    return 2;
  }
  return stave::cuda::serve();
}
