// cuBLASLt reads column-major: row-major C = A B is column-major C^T = B^T A^T,
// so that its first matrix is our B and the bias, one an output column, is one a
// row of its result as it wants.
#include <cublasLt.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/ir/interpret/operand.h"
#include "executor/cuda/compute.h"
#include "executor/cuda/map_source.h"

namespace stave::cuda {
namespace {

#define LT_TRY(call)                                               \
  if (const cublasStatus_t r = (call); r != CUBLAS_STATUS_SUCCESS) \
  return error_at(place, "STV0823", "{} failed: {}",               \
                  std::string_view(#call).substr(0, std::string_view(#call).find('(')), cublasLtGetStatusString(r))

std::optional<cudaDataType_t> type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::F8E4M3: return CUDA_R_8F_E4M3;
    case Dtype::F8E5M2: return CUDA_R_8F_E5M2;
    case Dtype::F16: return CUDA_R_16F;
    case Dtype::BF16: return CUDA_R_16BF;
    case Dtype::F32: return CUDA_R_32F;
    case Dtype::F64: return CUDA_R_64F;
    default: return std::nullopt;
  }
}

// The combinations of cublasLtMatmul's table that we take; the rest is for the kernel of ours.
bool taken(Dtype a, Dtype b, Dtype d) {
  const auto f8 = [](Dtype t) { return t == Dtype::F8E4M3 || t == Dtype::F8E5M2; };
  if (f8(a) && f8(b))
    return !(a == Dtype::F8E5M2 && b == Dtype::F8E5M2) && (d == Dtype::F16 || d == Dtype::BF16 || d == Dtype::F32);
  if (a != b) return false;
  if (a == Dtype::F16 || a == Dtype::BF16) return d == a || d == Dtype::F32;
  return (a == Dtype::F32 || a == Dtype::F64) && d == a;
}

std::uint32_t alignment_of(const void* at) {
  const auto bits = reinterpret_cast<std::uintptr_t>(at);
  return bits == 0 ? 256 : static_cast<std::uint32_t>(std::min<std::uintptr_t>(bits & ~(bits - 1), 256));
}

struct Sizes {
  std::int64_t batch, m, n, k;
};

Sizes sizes_of(const Expanded& e, const Command& c, const Gemm& gemm) {
  const auto shape = e.shape(e[c.results[0]]);
  const auto a = e.shape(e[c.operands[0]]);
  const std::size_t r = shape.size();
  return {elements_of(shape.first(r - 2)), shape[r - 2], shape[r - 1], a[gemm.transpose_a ? r - 2 : r - 1]};
}

Result<void> add_own_kernel(const ComputeContext& x, const Command& c, const Gemm& gemm, const Sizes& s,
                            Launch& launch) {
  const Expanded& e = x.expanded;
  const auto dtype = [&](ViewId v) { return e[v].dtype; };
  const GemmShape shape{dtype(c.operands[0]), dtype(c.operands[1]), dtype(c.results[0]), s.batch, s.m, s.n, s.k};
  TRY(const cudaKernel_t kernel, x.compiler.cuda(gemm_source(gemm, shape), "gemm"));
  KernelWork work;
  work.kernel = kernel;
  work.block = dim3{128};
  work.grid = dim3{static_cast<unsigned>((s.batch * s.m * s.n + 255) / 256)};
  const void* nothing = nullptr;
  work.add(x.at(c.operands[0]));
  work.add(x.at(c.operands[1]));
  work.add(gemm.beta != 0 ? static_cast<const void*>(x.at(c.operands[2])) : nothing);
  work.add(gemm.epilogue == Epilogue::Bias ? static_cast<const void*>(x.at(c.operands[c.operands.size() - 1]))
                                           : nothing);
  work.add(x.at(c.results[0]));
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

struct Layout {
  std::int64_t rows, columns, leading;
};

Result<cublasLtMatrixLayout_t> layout_of(cudaDataType_t type, const Layout& l, std::int64_t batch, const Place& place) {
  cublasLtMatrixLayout_t layout = nullptr;
  LT_TRY(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(l.rows),
                                    static_cast<std::uint64_t>(l.columns), l.leading));
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = l.rows * l.columns;
  LT_TRY(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
  LT_TRY(
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)));
  return layout;
}

Result<cublasLtMatmulDesc_t> description_of(const ComputeContext& x, const Command& c, const Gemm& gemm, bool wide,
                                            const Place& place) {
  cublasLtMatmulDesc_t desc = nullptr;
  LT_TRY(
      cublasLtMatmulDescCreate(&desc, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, wide ? CUDA_R_64F : CUDA_R_32F));
  const cublasOperation_t first = gemm.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second = gemm.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) -> Result<void> {
    LT_TRY(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)));
    return {};
  };
  TRY_VOID(set(CUBLASLT_MATMUL_DESC_TRANSA, first));
  TRY_VOID(set(CUBLASLT_MATMUL_DESC_TRANSB, second));
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (gemm.epilogue == Epilogue::Relu) epilogue = CUBLASLT_EPILOGUE_RELU;
  if (gemm.epilogue == Epilogue::Gelu) epilogue = CUBLASLT_EPILOGUE_GELU;
  if (gemm.epilogue == Epilogue::Bias) {
    epilogue = CUBLASLT_EPILOGUE_BIAS;
    const ViewId bias = c.operands[c.operands.size() - 1];
    const void* at = x.at(bias);
    TRY_VOID(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, at));
    TRY_VOID(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(x.expanded[bias].dtype).value_or(CUDA_R_32F)));
  }
  TRY_VOID(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (gemm.sm_count > 0) TRY_VOID(set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, gemm.sm_count));
  return desc;
}

// None: cuBLASLt has no kernel for it.
Result<std::optional<cublasLtMatmulAlgo_t>> algorithm_of(const GemmWork& w, const Place& place) {
  cublasLtMatmulPreference_t preference = nullptr;
  LT_TRY(cublasLtMatmulPreferenceCreate(&preference));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) -> Result<void> {
    LT_TRY(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)));
    return {};
  };
  const std::uint64_t workspace = w.workspace_bytes;
  TRY_VOID(set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace));
  TRY_VOID(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(w.a_at)));
  TRY_VOID(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(w.b_at)));
  TRY_VOID(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(w.c_at)));
  TRY_VOID(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(w.d_at)));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t r =
      cublasLtMatmulAlgoGetHeuristic(w.handle, w.desc, w.a, w.b, w.c, w.c, preference, 1, &found, &count);
  cublasLtMatmulPreferenceDestroy(preference);
  if (r != CUBLAS_STATUS_SUCCESS || count == 0) return std::optional<cublasLtMatmulAlgo_t>();
  return std::optional(found.algo);
}

}  // namespace

Result<void> add_gemm(const ComputeContext& x, const Command& c, StreamId stream, Launch& launch) {
  const Expanded& e = x.expanded;
  const auto& gemm = std::get<Gemm>(c.payload);
  const Place place = e.place(c);
  const Sizes s = sizes_of(e, c, gemm);
  if (s.batch * s.m * s.n == 0) return {};
  const Dtype a = e[c.operands[0]].dtype, b = e[c.operands[1]].dtype, d = e[c.results[0]].dtype;
  const auto same_c = [&] { return gemm.beta == 0 || e[c.operands[2]].dtype == d; };
  const auto same_bias = [&] {
    return gemm.epilogue != Epilogue::Bias || e[c.operands[c.operands.size() - 1]].dtype == d;
  };
  if (s.k == 0 || !taken(a, b, d) || !same_c() || !same_bias()) return add_own_kernel(x, c, gemm, s, launch);
  GemmWork work;
  TRY(work.handle, x.libraries.lt());
  work.wide = a == Dtype::F64;
  work.alpha = gemm.alpha;
  work.beta = gemm.beta;
  work.a_at = x.at(c.operands[1]);
  work.b_at = x.at(c.operands[0]);
  work.d_at = x.at(c.results[0]);
  work.c_at = gemm.beta != 0 ? static_cast<const void*>(x.at(c.operands[2])) : work.d_at;
  const Layout first = gemm.transpose_b ? Layout{s.k, s.n, s.k} : Layout{s.n, s.k, s.n};
  const Layout second = gemm.transpose_a ? Layout{s.m, s.k, s.m} : Layout{s.k, s.m, s.k};
  TRY(work.a, layout_of(*type_of(b), first, s.batch, place));
  TRY(work.b, layout_of(*type_of(a), second, s.batch, place));
  TRY(work.c, layout_of(*type_of(d), {s.n, s.m, s.n}, s.batch, place));
  TRY(work.desc, description_of(x, c, gemm, work.wide, place));
  void*& workspace = x.workspaces[stream];
  if (workspace == nullptr) {
    TRY(workspace, x.own.device(gemm_workspace_bytes));
  }
  work.workspace = workspace;
  work.workspace_bytes = gemm_workspace_bytes;
  TRY(const std::optional<cublasLtMatmulAlgo_t> algorithm, algorithm_of(work, place));
  if (!algorithm) return add_own_kernel(x, c, gemm, s, launch);
  work.algorithm = *algorithm;
  launch.works.emplace_back(work);
  return {};
}

}  // namespace stave::cuda
