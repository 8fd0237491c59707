#include "executor/cuda/compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"
#include "executor/cuda/map_source.h"

namespace stave::cuda {
namespace {

bool aligned_to(const void* at, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(at) % bytes == 0; }

Result<void> placed(Result<void> result, const Expanded& e, const Command& c) {
  if (result) return result;
  Problems problems = std::move(result).problems();
  for (Problem& p : problems)
    if (p.place == Place{}) p.place = e.place(c);
  return Failure(std::move(problems));
}

class Adding {
 public:
  Adding(const ComputeContext& context, CommandId id, StreamId stream, Launch& launch)
      : x_(context), e_(context.expanded), c_(context.expanded[id]), id_(id), stream_(stream), launch_(launch) {}

  Result<void> operator()(const Memzero&) {
    const ViewId to = c_.results[0];
    launch_.works.emplace_back(FillWork{x_.at(to), 0, static_cast<std::size_t>(e_[to].bytes)});
    return {};
  }

  Result<void> operator()(const Memset& op) {
    const ViewId to = c_.results[0];
    std::uint32_t pattern = static_cast<std::uint32_t>(op.value.integer);
    if (is_float(op.value.dtype)) pattern = std::bit_cast<std::uint32_t>(static_cast<float>(op.value.number));
    const auto bytes = static_cast<std::size_t>(e_[to].bytes);
    if (pattern == (pattern & 0xff) * 0x01010101U) {
      launch_.works.emplace_back(FillWork{x_.at(to), static_cast<int>(pattern & 0xff), bytes});
      return {};
    }
    static constexpr std::string_view source =
        "extern \"C\" __global__ void fill(unsigned* to, unsigned value, unsigned long long count) {\n"
        "  unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;\n"
        "  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += "
        "step)\n"
        "    to[i] = value;\n}\n";
    TRY(KernelWork work, kernel_of(source, "fill"));
    work.block = dim3{256};
    work.grid = dim3{static_cast<unsigned>(
        std::clamp<std::size_t>((bytes / 4 + 255) / 256, bytes == 0 ? 0 : 1, 8 * x_.multiprocessors))};
    work.add(x_.at(to));
    work.add(pattern);
    work.add(std::uint64_t{bytes / 4});
    return finish(std::move(work));
  }

  Result<void> operator()(const Copy&) {
    launch_.works.emplace_back(
        CopyWork{x_.at(c_.results[0]), x_.at(c_.operands[0]), static_cast<std::size_t>(e_[c_.results[0]].bytes)});
    return {};
  }

  Result<void> operator()(const Map& op) {
    MapShape shape;
    shape.elements = e_.elements(e_[c_.results[0]]);
    if (shape.elements == 0) return {};
    const auto side = [&](IdRange<View> views, std::vector<MapOperand>& out) {
      for (const ViewId v : views) out.push_back({e_[v].dtype, e_.elements(e_[v]), true});
    };
    side(c_.operands, shape.operands);
    side(c_.results, shape.results);
    const std::uint32_t width = map_width(shape);
    const auto align = [&](IdRange<View> views, std::vector<MapOperand>& out) {
      for (std::size_t i = 0; i < views.size(); ++i)
        out[i].aligned = aligned_to(
            x_.at(views[i]), std::max<std::size_t>(width * static_cast<std::size_t>(bits_of(out[i].dtype)) / 8, 1));
    };
    align(c_.operands, shape.operands);
    align(c_.results, shape.results);
    TRY(KernelWork work, kernel_of(map_source(e_.lambdas[op.f], shape), "map"));
    const std::uint64_t threads = (static_cast<std::uint64_t>(shape.elements) + width - 1) / width;
    const std::uint64_t blocks = (threads + map_threads - 1) / map_threads;
    if (blocks > 0x7fffffff)
      return error_at(e_.place(c_), "STV0560", "`{}` has {} elements, more than one launch takes", path(),
                      shape.elements);
    work.block = dim3{map_threads};
    work.grid = dim3{static_cast<unsigned>(blocks)};
    for (const ViewId v : c_.operands) work.add(x_.at(v));
    for (const ViewId v : c_.results) work.add(x_.at(v));
    return finish(std::move(work));
  }

  Result<void> operator()(const Reduce& op) {
    const View& in = e_[c_.operands[0]];
    const View& out = e_[c_.results[0]];
    const auto dims = e_.shape(in);
    const ReduceShape shape{in.dtype,         out.dtype,
                            op.reduction,     {dims.begin(), dims.end()},
                            e_.ints[op.axes], aligned_to(x_.at(c_.operands[0]), 16)};
    const ReducePlan plan = plan_reduce(shape, x_.multiprocessors);
    if (plan.outputs == 0) return {};
    const std::string source = reduce_source(shape, plan);
    TRY(KernelWork partial, kernel_of(source, "partial"));
    TRY(KernelWork combine, kernel_of(source, "combine_partials"));
    TRY(void* const scratch, x_.own.device(static_cast<std::size_t>(plan.scratch_bytes)));
    partial.block = dim3{plan.threads};
    partial.grid = dim3{plan.blocks, plan.chunks};
    partial.add(x_.at(c_.operands[0]));
    partial.add(scratch);
    TRY_VOID(finish(std::move(partial)));
    combine.block = dim3{combine_threads};
    combine.grid = dim3{plan.combine_blocks};
    combine.add(scratch);
    combine.add(x_.at(c_.results[0]));
    return finish(std::move(combine));
  }

  Result<void> operator()(const Gemm&) { return add_gemm(x_, c_, stream_, launch_); }

  Result<void> operator()(const Kernel& op) {
    const Module& module = *e_.module;
    const auto source = std::find_if(module.sources.begin(), module.sources.end(),
                                     [&](const SourceDecl& s) { return s.name == op.source.name; });
    if (source == module.sources.end())
      return error_at(e_.place(c_), "STV0560", "`{}`: there is no such source in the module", path());
    const std::string_view text = module.text(source->text), entry = module.text(op.entry);
    Result<cudaKernel_t> kernel =
        module.text(source->language) == "cuda" ? x_.compiler.cuda(text, entry) : x_.compiler.loaded(text, entry);
    if (!kernel) return Failure(std::move(kernel).problems());
    KernelWork work;
    work.kernel = *kernel;
    const auto dims = [](const Dim3& d) {
      return dim3{static_cast<unsigned>(d.x), static_cast<unsigned>(d.y), static_cast<unsigned>(d.z)};
    };
    work.grid = dims(op.grid);
    work.block = dims(op.block);
    work.cluster = dims(op.cluster);
    work.shared_bytes = static_cast<std::uint32_t>(op.shared_memory);
    if (op.shared_memory > 0)
      CUDA_TRY(cudaKernelSetAttributeForDevice(work.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               op.shared_memory, x_.device));
    if (work.cluster.x * work.cluster.y * work.cluster.z > 8)
      CUDA_TRY(
          cudaKernelSetAttributeForDevice(work.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1, x_.device));
    if (op.args) {
      for (const KernelArg& arg : e_.args[op.args]) TRY_VOID(add_argument(arg, work));
    } else {
      for (const ViewId v : c_.operands) work.add(x_.at(v));
      for (const ViewId v : c_.results) work.add(x_.at(v));
    }
    return finish(std::move(work));
  }

  Result<void> operator()(const CustomCall& op) {
    const std::string_view target = e_.module->text(op.target);
    if (target != "cusolver_potrf")
      return error_at(e_.place(c_), "STV0562",
                      "`{}`: no GPU handler is registered for target \"{}\"; there is cusolver_potrf", path(), target);
    return potrf(op);
  }

  template <class T>
  Result<void> operator()(const T&) {
    return error_at(e_.place(c_), "STV0560", "`{}` is nothing that a device computes", path());
  }

 private:
  std::string path() const { return e_.path(id_); }

  Result<KernelWork> kernel_of(std::string_view source, std::string_view entry) {
    KernelWork work;
    TRY(work.kernel, x_.compiler.cuda(source, entry));
    return work;
  }

  Result<void> finish(KernelWork work) {
    work.seal();
    launch_.works.emplace_back(std::move(work));
    return {};
  }

  Result<void> add_argument(const KernelArg& arg, KernelWork& work) {
    switch (arg.kind) {
      case KernelArg::Kind::In: work.add(x_.at(c_.operands[arg.index])); return {};
      case KernelArg::Kind::Out: work.add(x_.at(c_.results[arg.index])); return {};
      case KernelArg::Kind::TensorMap:
        return error_at(e_.place(c_), "STV0561",
                        "`{}`: tensor_map arguments are not made yet: the schedule does not say a box", path());
      case KernelArg::Kind::Value: break;
    }
    std::byte bytes[8] = {};
    const auto size = static_cast<std::size_t>(storage_bytes(arg.value.dtype, 1));
    if (is_float(arg.value.dtype))
      store_double(std::span(bytes, size), arg.value.dtype, 0, arg.value.number);
    else
      store_signed(std::span(bytes, size), arg.value.dtype, 0, arg.value.integer);
    work.add_bytes(bytes, size);
    return {};
  }

  // The operand is copied into the factor, which the library overwrites in one triangle.
  Result<void> potrf(const CustomCall& op) {
    const View& matrix = e_[c_.results[0]];
    const auto shape = e_.shape(matrix);
    const bool fits = c_.operands.size() == 1 && c_.results.size() == 2 && shape.size() >= 2 &&
                      shape[shape.size() - 1] == shape[shape.size() - 2] &&
                      (matrix.dtype == Dtype::F32 || matrix.dtype == Dtype::F64) &&
                      e_[c_.results[1]].dtype == Dtype::S32 && e_[c_.operands[0]].bytes == matrix.bytes;
    if (!fits)
      return error_at(e_.place(c_), "STV0563",
                      "`{}`: cusolver_potrf takes square f32 or f64 matrices and gives the factor and an s32 a matrix",
                      path());
    PotrfWork work;
    TRY(work.handle, x_.libraries.solver());
    if (op.attributes)
      for (const RecordField& field : e_.records[op.attributes])
        if (const bool* lower = std::get_if<bool>(&field.value))
          work.triangle = *lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    work.wide = matrix.dtype == Dtype::F64;
    work.n = static_cast<int>(shape.back());
    work.batch = static_cast<int>(elements_of(shape.first(shape.size() - 2)));
    work.matrix = x_.at(c_.results[0]);
    work.info = reinterpret_cast<int*>(x_.at(c_.results[1]));
    const cusolverStatus_t r =
        work.wide ? cusolverDnDpotrf_bufferSize(work.handle, work.triangle, work.n, static_cast<double*>(work.matrix),
                                                work.n, &work.workspace_elements)
                  : cusolverDnSpotrf_bufferSize(work.handle, work.triangle, work.n, static_cast<float*>(work.matrix),
                                                work.n, &work.workspace_elements);
    if (r != CUSOLVER_STATUS_SUCCESS)
      return error_at(e_.place(c_), "STV0825", "`{}`: cusolverDnXpotrf_bufferSize failed with status {}", path(),
                      static_cast<int>(r));
    TRY(work.workspace, x_.own.device(static_cast<std::size_t>(work.workspace_elements) * (work.wide ? 8 : 4)));
    if (x_.at(c_.operands[0]) != x_.at(c_.results[0]))
      launch_.works.emplace_back(CopyWork{work.matrix, x_.at(c_.operands[0]), static_cast<std::size_t>(matrix.bytes)});
    launch_.works.emplace_back(work);
    return {};
  }

  const ComputeContext& x_;
  const Expanded& e_;
  const Command& c_;
  CommandId id_;
  StreamId stream_;
  Launch& launch_;
};

}  // namespace

Libraries::~Libraries() {
  if (lt_) cublasLtDestroy(lt_);
  if (solver_) cusolverDnDestroy(solver_);
}

Result<cublasLtHandle_t> Libraries::lt() {
  if (lt_) return lt_;
  if (const cublasStatus_t r = cublasLtCreate(&lt_); r != CUBLAS_STATUS_SUCCESS)
    return error_at({}, "STV0823", "cublasLtCreate failed: {}", cublasLtGetStatusString(r));
  return lt_;
}

Result<cusolverDnHandle_t> Libraries::solver() {
  if (solver_) return solver_;
  if (const cusolverStatus_t r = cusolverDnCreate(&solver_); r != CUSOLVER_STATUS_SUCCESS)
    return error_at({}, "STV0825", "cusolverDnCreate failed with status {}", static_cast<int>(r));
  return solver_;
}

Result<void> add_compute(const ComputeContext& context, CommandId command, StreamId stream, Launch& launch) {
  const Command& c = context.expanded[command];
  return placed(std::visit(Adding(context, command, stream, launch), c.payload), context.expanded, c);
}

}  // namespace stave::cuda
