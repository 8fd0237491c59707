// What a step costs the host on a GPU, beside the same CUDA calls in a loop by hand.
// Each figure is the host's time for one command, or for one launch of a graph.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "core/text/parse.h"
#include "executor/cuda/compiler.h"
#include "executor/cuda/cuda_driver.h"

namespace stave {
namespace {

constexpr int commands = 500;  // below the 1,024 launches that a stream takes before the host waits

std::string program(std::string_view command) {
  return fmt::format(
      "stave 1\nfunc @f(%x: in f32[256], %y: out f32[256]) {{\n  repeat (index = i, from = 0, to = {}) "
      "{{\n    {}\n  }}\n}}\n",
      commands, command);
}

// The time that counts is the median: a thread that was moved, or woke up, takes several times as long.
class Times {
 public:
  void add(benchmark::State& state, double seconds) {
    state.SetIterationTime(seconds);
    all_.push_back(seconds);
  }
  void tell(benchmark::State& state) {
    if (all_.empty()) return;
    std::nth_element(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(all_.size() / 2), all_.end());
    state.counters["median_us"] = all_[all_.size() / 2] * 1e6;
  }

 private:
  std::vector<double> all_;
};

void step(benchmark::State& state, std::string_view command, Mode mode, double each) {
  Result<Module> module = parse("bench.stave", program(command));
  Result<Expansion> expansion = expand_and_verify(std::make_shared<const Module>(*std::move(module)));
  const Result<Plan> plan = lower(*std::move(expansion), mode);
  const auto execution = cuda::create_cuda_driver({})->prepare(*plan, {});
  if (!execution) return state.SkipWithError(to_text(execution.problems()[0]).c_str());
  static_cast<void>(run_step(**execution));
  Times times;
  for (auto _ : state) {
    const Result<StepReport> report = run_step(**execution);
    if (!report) return state.SkipWithError(to_text(report.problems()[0]).c_str());
    times.add(state, static_cast<double>(report->issue[0].count()) * 1e-12 / each);
  }
  times.tell(state);
}

// Buffers, a stream, and a kernel as large as those of `map`.
struct ByHand {
  float *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  cuda::Compiler compiler{90};
  cudaKernel_t kernel = nullptr;

  ByHand() {
    cudaMalloc(reinterpret_cast<void**>(&x), 2048);  // one piece of memory, as a rank's buffers are
    y = x + 256;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    const auto made = compiler.cuda(
        "extern \"C\" __global__ void add(const float* x, float* y, unsigned long long n) { unsigned i = blockIdx.x * "
        "blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }",
        "add");
    if (made) kernel = *made;
  }
  ~ByHand() {
    cudaFree(x);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
  }
  void launch() {
    std::uint64_t n = 256;
    void* arguments[] = {static_cast<void*>(&x), static_cast<void*>(&y), static_cast<void*>(&n)};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3{1};
    config.blockDim = dim3{256};
    config.stream = stream;
    cudaLaunchKernelExC(&config, kernel, arguments);
  }
};

// `first`, which is not timed, stands before the calls.
template <class Calls, class First>
void by_hand(benchmark::State& state, ByHand& hand, double each, Calls calls, First first) {
  Times times;
  for (auto _ : state) {
    first();
    const auto before = std::chrono::steady_clock::now();
    calls();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    cudaStreamSynchronize(hand.stream);
    times.add(state, took.count() / each);
  }
  times.tell(state);
}
template <class Calls>
void by_hand(benchmark::State& state, ByHand& hand, double each, Calls calls) {
  by_hand(state, hand, each, calls, [] {});
}

void eager_copy(benchmark::State& state) { step(state, "copy %x -> %y", Mode::Eager, commands); }
void eager_copy_by_hand(benchmark::State& state) {
  ByHand hand;
  by_hand(state, hand, commands, [&] {
    for (int i = 0; i < commands; ++i) cudaMemcpyAsync(hand.y, hand.x, 1024, cudaMemcpyDefault, hand.stream);
  });
}
void eager_map(benchmark::State& state) { step(state, "map %x -> %y (f = |v| v + 1.0)", Mode::Eager, commands); }
void eager_map_by_hand(benchmark::State& state) {
  ByHand hand;
  by_hand(state, hand, commands, [&] {
    for (int i = 0; i < commands; ++i) hand.launch();
  });
}

void captured(benchmark::State& state) { step(state, "map %x -> %y (f = |v| v + 1.0)", Mode::Captured, 1); }
// With the events before and behind it from which a step's time is read: of these only the latter is in the figure.
enum class Events { None, End, BeginAndEnd };
void captured_by_hand(benchmark::State& state, Events events) {
  ByHand hand;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(hand.stream, cudaStreamCaptureModeRelaxed);
  for (int i = 0; i < commands; ++i) hand.launch();
  cudaStreamEndCapture(hand.stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphUpload(exec, hand.stream);
  cudaStreamSynchronize(hand.stream);
  by_hand(
      state, hand, 1,
      [&] {
        cudaGraphLaunch(exec, hand.stream);
        if (events != Events::None) cudaEventRecord(hand.end, hand.stream);
      },
      [&] {
        if (events == Events::BeginAndEnd) cudaEventRecord(hand.begin, hand.stream);
      });
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

void repeated(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Repetitions(7)->Unit(benchmark::kMicrosecond)->ReportAggregatesOnly();
}
BENCHMARK(eager_copy)->Apply(repeated)->Iterations(100);
BENCHMARK(eager_copy_by_hand)->Apply(repeated)->Iterations(100);
BENCHMARK(eager_map)->Apply(repeated)->Iterations(100);
BENCHMARK(eager_map_by_hand)->Apply(repeated)->Iterations(100);
BENCHMARK(captured)->Apply(repeated)->Iterations(1500);
BENCHMARK_CAPTURE(captured_by_hand, bare, Events::None)->Apply(repeated)->Iterations(1500);
BENCHMARK_CAPTURE(captured_by_hand, with_end_event, Events::End)->Apply(repeated)->Iterations(1500);
BENCHMARK_CAPTURE(captured_by_hand, between_events, Events::BeginAndEnd)->Apply(repeated)->Iterations(1500);

}  // namespace
}  // namespace stave
