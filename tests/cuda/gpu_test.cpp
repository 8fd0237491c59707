// What only a GPU can tell: every dtype of every generated kernel against the
// reference, sources, what a step costs the host, how fast memory is read.
#include <gtest/gtest.h>

#include "core/ir/interpret/compare.h"
#include "core/ir/interpret/inputs.h"
#include "core/text/parse.h"
#include "executor/cuda/cuda_driver.h"
#include "executor/drivers.h"
#include "tests/cuda/allocations.h"

namespace stave {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;

Result<Plan> plan_of(const std::string& text, Mode mode) {
  TRY(Module module, parse("test.stave", text));
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module))));
  return lower(std::move(expansion), mode);
}

Result<void> fill(const Plan& plan, Execution& execution) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& b = e.buffers[id];
      const std::string_view name = e.module->text(b.name);
      TRY(const auto bytes, fill_input({{std::string(name), InputSpec::Kind::Random, 3, {}}, {}},
                                       {name, b.dtype, b.shape, rank, plan.ranks(), rank}));
      TRY_VOID(execution.write(rank, id, bytes));
    }
  }
  return {};
}

Result<Buffers> outputs_on(std::string_view driver, const Plan& plan) {
  TRY(const std::unique_ptr<Execution> execution, driver_named(driver)->prepare(plan, {}));
  TRY_VOID(fill(plan, *execution));
  TRY(const StepReport report, run_step(*execution));
  if (report.hang) return error_at({}, "", "{}", to_text(*report.hang));
  Buffers out;
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Expanded& e = plan.of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      out.emplace_back(static_cast<std::size_t>(e.buffers[id].bytes));
      TRY_VOID(execution->read(rank, id, out.back()));
    }
  }
  return out;
}

// Runs on both drivers; the difference in words, or empty.
std::string difference(const std::string& text, Mode mode = Mode::Eager) {
  const Result<Plan> plan = plan_of(text, mode);
  const Result<Plan> eager = plan_of(text, Mode::Eager);
  if (!plan) return to_text(plan.problems()[0]);
  const Result<Buffers> expected = outputs_on("reference", *eager), got = outputs_on("cuda", *plan);
  if (!expected) return to_text(expected.problems()[0]);
  if (!got) return to_text(got.problems()[0]);
  std::size_t i = 0;
  for (Rank rank = 0; rank < plan->ranks(); ++rank) {
    const Expanded& e = plan->of_rank(rank).expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& b = e.buffers[id];
      std::size_t elements = 1;
      for (const std::int64_t d : b.shape) elements *= static_cast<std::size_t>(d);
      const auto compared = compare_buffers((*expected)[i], (*got)[i], b.dtype, elements);
      ++i;
      if (!compared->equal()) return fmt::format("rank {} %{}: {}", rank, e.module->text(b.name), to_text(*compared));
    }
  }
  return "";
}

const char* const dtypes[] = {"bool", "s4",  "u4",     "s8",     "u8",  "s16",  "u16", "s32", "u32",
                              "s64",  "u64", "f8e4m3", "f8e5m2", "f16", "bf16", "f32", "f64"};

TEST(CudaGpu, MapsOfEveryDtypeSizeAndAlignment) {
  for (const std::string t : dtypes) {
    if (t == "bool") continue;
    for (const std::string n : {"1", "7", "4096", "4099"})
      EXPECT_EQ(difference("stave 1\nfunc @f(%x: in " + t + "[" + n + "], %y: inout " + t + "[" + n + "]) {\n" +
                           "  map %x, %y -> %y (f = |a, b| max(a * a + b, b))\n}\n"),
                "")
          << t << " " << n;
  }
  // A view that starts behind the start of its buffer cannot be read 16 bytes at a time.
  for (const std::string t : {"s8", "bf16", "f32", "f64"})
    EXPECT_EQ(difference("stave 1\nfunc @f(%x: in " + t + "[1003], %y: inout " + t + "[1003]) {\n" +
                         "  map %x[1:1001], %y[3:1003] -> %y[3:1003] (f = |a, b| a + b)\n}\n"),
              "")
        << t;
}

TEST(CudaGpu, MapsThatBroadcast) {
  EXPECT_EQ(difference(R"(stave 1
func @f(%x: in f32[6, 5, 7], %row: in f32[7], %plane: in f32[5, 7], %one: in f32[], %y: out f32[6, 5, 7], %z: out bf16[6, 5, 7]) {
  map %x, %row, %plane, %one -> %y, %z (f = |x, r, p, o| (x * r + p * o, x - r))
}
)"),
            "");
}

TEST(CudaGpu, CastsBetweenAllDtypes) {
  for (const std::string from : dtypes) {
    std::string formals, maps;
    for (const std::string to : dtypes) {
      formals += ", %" + to + ": out " + to + "[66]";
      maps += "  map %x -> %" + to + " (f = |a| a)\n";
    }
    EXPECT_EQ(difference("stave 1\nfunc @f(%x: in " + from + "[66]" + formals + ") {\n" + maps + "}\n"), "") << from;
  }
}

TEST(CudaGpu, ReductionsOfEveryDtypeAndAxis) {
  for (const std::string t : dtypes) {
    if (t == "bool" || t == "s4" || t == "u4") continue;  // reduce has no form for them
    for (const std::string r : {"sum", "min", "max"}) {
      const std::string program =
          "stave 1\nfunc @f(%x: in " + t + "[6, 40, 18], %a: out " + t + "[40, 18], %b: out " + t +
          "[6, 18], %c: out " + t + "[6, 40], %d: out " + t + "[], %e: out " + t + "[40]) {\n" +
          "  reduce %x -> %a (reduction = " + r + ", axes = [0])\n  reduce %x -> %b (reduction = " + r +
          ", axes = [1])\n  reduce %x -> %c (reduction = " + r + ", axes = [2])\n  reduce %x -> %d (reduction = " + r +
          ", axes = [0, 1, 2])\n  reduce %x -> %e (reduction = " + r + ", axes = [0, 2])\n}\n";
      EXPECT_EQ(difference(program), "") << t << " " << r;
    }
  }
  EXPECT_EQ(difference("stave 1\nfunc @f(%x: in f32[3, 100003], %y: out f32[3]) {\n  reduce %x -> %y (reduction = sum, "
                       "axes = [1])\n}\n"),
            "");
  EXPECT_EQ(difference("stave 1\nfunc @f(%x: in bf16[20000, 33], %y: out bf16[33]) {\n  reduce %x -> %y (reduction = "
                       "max, axes = [0])\n}\n"),
            "");
}

TEST(CudaGpu, GemmsOfEveryDtype) {
  struct Case {
    const char *a, *d;
  };
  for (const Case c : {Case{"f32", "f32"}, Case{"f64", "f64"}, Case{"bf16", "bf16"}, Case{"bf16", "f32"},
                       Case{"f16", "f16"}, Case{"f8e4m3", "bf16"}, Case{"f8e5m2", "f32"}, Case{"s8", "s32"}})
    for (const std::string form : {"", "transpose_a = true, ", "transpose_b = true, "}) {
      const std::string a = std::string(c.a) + (form.starts_with("transpose_a") ? "[2, 32, 48]" : "[2, 48, 32]");
      const std::string b = std::string(c.a) + (form.starts_with("transpose_b") ? "[2, 64, 32]" : "[2, 32, 64]");
      const std::string d = std::string(c.d) + "[2, 48, 64]";
      EXPECT_EQ(difference("stave 1\nfunc @f(%a: in " + a + ", %b: in " + b + ", %c: inout " + d + ", %r: out " + d +
                           ") {\n" + "  gemm %a, %b, %c -> %c (" + form + "alpha = 2.0, beta = 1.0)\n" +
                           "  gemm %a, %b -> %r (" + form + "epilogue = relu)\n}\n"),
                "")
          << c.a << " " << c.d << " " << form;
    }
  EXPECT_EQ(difference(R"(stave 1
func @f(%a: in bf16[129, 65], %b: in bf16[65, 33], %bias: in bf16[33], %c: out bf16[129, 33], %d: out bf16[129, 33]) {
  gemm %a, %b, %bias -> %c (epilogue = bias, sm_count = 16)
  gemm %a, %b -> %d (epilogue = gelu)
}
)"),
            "");
}

const std::string kernels = R"(stave 1
source @c = cuda """
extern "C" __global__ void scale(const float* x, float* y, float by, int n) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] * by : 0.0f;
  __syncthreads();
  if (i < n) y[i] = tile[threadIdx.x];
}
extern "C" __global__ void __cluster_dims__(1, 1, 1) plain(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void number_of_cluster(float* y) {
  unsigned r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  if (threadIdx.x == 0) y[blockIdx.x] = (float)r;
}
"""
func @scaled(%x: in f32[300], %y: out f32[300]) {
  map %x -> %y (f = |v| v * 3.0)
}
func @ranks(%y: out f32[4]) {
  %k = constant f32[4] (value = [0.0, 1.0, 0.0, 1.0])
  copy %k -> %y
}
func @f(%x: in f32[300], %y: out f32[300], %z: out f32[4]) {
  kernel %x -> %y (source = @c, entry = "scale", grid = [3, 1, 1], block = [128, 1, 1], shared_memory = 65536,
      args = [in 0, out 0, f32 3.0, s32 300], reference = @scaled)
  kernel -> %z (source = @c, entry = "number_of_cluster", grid = [4, 1, 1], block = [32, 1, 1], cluster = [2, 1, 1],
      args = [out 0], reference = @ranks)
}
entry @f
)";

TEST(CudaGpu, KernelsOfCudaText) {
  EXPECT_EQ(difference(kernels), "");
  EXPECT_EQ(difference(kernels, Mode::Captured), "");
}

TEST(CudaGpu, CholeskyOfBothTriangles) {
  for (const std::string lower : {"false", "true"})
    for (const Mode mode : {Mode::Eager, Mode::Captured})
      EXPECT_EQ(difference(R"(stave 1
func @f(%c: in f64[6, 6], %l: out f64[6, 6], %info: out s32[]) {
  %a = scratch f64[6, 6]
  %id = constant f64[6, 6] (value = [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0,
      0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0])
  gemm %c, %c -> %a (transpose_b = true)
  map %a, %id -> %a (f = |x, y| x + y)
  custom_call %a -> %l, %info (target = "cusolver_potrf", attributes = {lower = )" +
                               lower + R"(})
}
)",
                           mode),
                "")
          << lower;
}

TEST(CudaGpu, MemsetsOfAnyPattern) {
  EXPECT_EQ(difference(R"(stave 1
func @f(%x: out f32[33], %y: out s32[5], %z: out u32[4]) {
  memset -> %x (value = f32 1.5)
  memset -> %y (value = s32(-1))
  memzero -> %z
}
)"),
            "");
}

// Host memory both ways, on a stream of its own.
TEST(CudaGpu, CopiesThroughHostMemory) {
  EXPECT_EQ(difference(R"(stave 1
func @f(%x: in f32[1000], %y: out f32[1000]) {
  %h = scratch host f32[1000]
  %t = async_start (stream = communication 0) {
    copy %x -> %h
    copy %h -> %y
  }
  async_done %t
}
)"),
            "");
}

const std::string three_commands = R"(stave 1
func @f(%x: in f32[1024], %y: out f32[1024], %z: out f32[1024]) {
  %t = async_start (stream = computation 0) {
    map %x -> %y (f = |v| v + 1.0)
  }
  memzero -> %z
  async_done %t
  copy %y -> %z
}
)";

TEST(CudaGpu, AStepAllocatesNothing) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Result<Plan> plan = plan_of(three_commands, mode);
    ASSERT_TRUE(plan);
    const auto execution = driver_named("cuda")->prepare(*plan, {});
    ASSERT_TRUE(execution) << to_text(execution.problems()[0]);
    ASSERT_TRUE(fill(*plan, **execution));
    ASSERT_TRUE(run_step(**execution));
    const std::int64_t before = allocations_until_now();
    const Result<StepId> step = (*execution)->submit();
    const std::int64_t submitted = allocations_until_now();
    ASSERT_TRUE(step);
    ASSERT_TRUE((*execution)->wait(*step, Deadline::max()));
    EXPECT_EQ(submitted - before, 0) << name_of(mode);
  }
}

TEST(CudaGpu, StepsRepeatWithoutANewGraph) {
  const Result<Plan> plan =
      plan_of("stave 1\nfunc @f(%x: inout s32[4]) {\n  map %x -> %x (f = |v| v + 1)\n}\n", Mode::Captured);
  ASSERT_TRUE(plan);
  const auto execution = driver_named("cuda")->prepare(*plan, {});
  ASSERT_TRUE(execution);
  const std::int32_t start[4] = {0, 10, 20, 30};
  ASSERT_TRUE((*execution)->write(0, BufferId{0}, std::as_bytes(std::span(start))));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(run_step(**execution));
  std::int32_t end[4] = {};
  ASSERT_TRUE((*execution)->read(0, BufferId{0}, std::as_writable_bytes(std::span(end))));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(end[i], start[i] + 20);
}

// Copies of 16 MiB that are told by words behind them: what is taken at once is there, in each step of other numbers.
TEST(CudaGpu, LargePushesAreThereWhenTheyAreTaken) {
  const Result<std::vector<cuda::Gpu>> all = cuda::gpus();
  if (!all || all->size() < 2) GTEST_SKIP() << "this machine has fewer than two GPUs";
  const Result<Plan> plan = plan_of(R"(stave 1
mesh x = 2
func @f(%a: in s32[4194304], %sum: out s32[2, 4194304]) {
  %all = scratch s32[2, 4194304]
  memzero -> %sum
  repeat (index = i, from = 0, to = 20) {
    all_gather %a -> %all (axis = x, algorithm = copy_engine)
    map %sum, %all -> %sum (f = |s, v| s + (i + 1) * v)
    memzero -> %all
  }
}
)",
                                    Mode::Captured);
  ASSERT_TRUE(plan) << to_text(plan.problems()[0]);
  const auto execution = driver_named("cuda")->prepare(*plan, {});
  ASSERT_TRUE(execution) << to_text(execution.problems()[0]);
  constexpr std::size_t n = 4194304;
  std::vector<std::int32_t> a(n), sum(2 * n);
  for (std::int32_t step = 1; step <= 5; ++step) {
    for (Rank rank = 0; rank < 2; ++rank) {
      for (std::size_t i = 0; i < n; ++i)
        a[i] = static_cast<std::int32_t>(i % 1000 + 1) * step + static_cast<std::int32_t>(rank);
      ASSERT_TRUE((*execution)->write(rank, BufferId{0}, std::as_bytes(std::span(a))));
    }
    ASSERT_TRUE(run_step(**execution));
    for (Rank rank = 0; rank < 2; ++rank) {
      ASSERT_TRUE((*execution)->read(rank, BufferId{1}, std::as_writable_bytes(std::span(sum))));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < 2 * n; ++i)
        wrong +=
            sum[i] != 210 * (static_cast<std::int32_t>(i % n % 1000 + 1) * step + static_cast<std::int32_t>(i / n));
      EXPECT_EQ(wrong, 0U) << "step " << step << ", rank " << rank;
    }
  }
}

// Bytes a second of the fastest of some steps.
double rate_of(const std::string& text, double bytes) {
  const Result<Plan> plan = plan_of(text, Mode::Eager);
  EXPECT_TRUE(plan) << to_text(plan.problems()[0]);
  const auto execution = driver_named("cuda")->prepare(*plan, {});
  EXPECT_TRUE(execution) << to_text(execution.problems()[0]);
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    const Result<StepReport> report = run_step(**execution);
    EXPECT_TRUE(report);
    if (!report) return 0;
    best = std::max(best, bytes / (static_cast<double>(report->durations[0].count()) * 1e-12));
  }
  return best;
}

// Not a timed test: a figure to read. 1 GiB, so that no cache holds it.
TEST(CudaGpu, MemoryRates) {
  const std::string n = "268435456";
  const double copy =
      rate_of("stave 1\nfunc @f(%x: in f32[" + n + "], %y: out f32[" + n + "]) {\n  copy %x -> %y\n}\n", 0x1p31);
  const double map = rate_of(
      "stave 1\nfunc @f(%x: in f32[" + n + "], %y: out f32[" + n + "]) {\n  map %x -> %y (f = |v| v * 2.0 + 1.0)\n}\n",
      0x1p31);
  const double half = rate_of(
      "stave 1\nfunc @f(%x: in bf16[536870912], %y: out bf16[536870912]) {\n  map %x -> %y (f = |v| v * 2.0 + "
      "1.0)\n}\n",
      0x1p31);
  const double rows = rate_of(
      "stave 1\nfunc @f(%x: in f32[16384, 16384], %y: out f32[16384]) {\n  reduce %x -> %y (reduction = sum, axes = "
      "[1])\n}\n",
      0x1p30);
  const double all = rate_of(
      "stave 1\nfunc @f(%x: in f32[16384, 16384], %y: out f32[]) {\n  reduce %x -> %y (reduction = sum, axes = [0, "
      "1])\n}\n",
      0x1p30);
  const double columns = rate_of(
      "stave 1\nfunc @f(%x: in f32[16384, 16384], %y: out f32[16384]) {\n  reduce %x -> %y (reduction = sum, axes = "
      "[0])\n}\n",
      0x1p30);
  fmt::print("GB/s: copy {:.0f}, map f32 {:.0f}, map bf16 {:.0f}, reduce rows {:.0f}, all {:.0f}, columns {:.0f}\n",
             copy / 1e9, map / 1e9, half / 1e9, rows / 1e9, all / 1e9, columns / 1e9);
  EXPECT_GT(copy, 0);
}

}  // namespace
}  // namespace stave
