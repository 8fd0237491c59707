#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/number.h"

namespace stave {
namespace {

// Cholesky factorization as cuSOLVER's potrf does it: the matrix is read as column-major
// and only the triangle that `lower` names is read and written. In row-major terms
// lower = false leaves L with A = L L^T in the row-major lower triangle and everything
// above the diagonal as it was; lower = true leaves L^T in the upper triangle.
// operand: [..., n, n] of f32 or f64; results: the factor, and info s32, one a matrix:
// 0, or the order of the first leading minor that is not positive definite (from 1).
// Columns from that one on keep their input. Computes in f64.
Result<void> cusolver_potrf(const CustomCallArguments& call) {
  if (call.operands.size() != 1 || call.results.size() != 2)
    return error_at({}, "STV0651", "{} takes 1 operand (a matrix) and 2 results (the factor, info), got {} and {}",
                    call.target, call.operands.size(), call.results.size());
  bool lower = false;
  for (const RecordField& field : call.attributes) {
    const bool* value = std::get_if<bool>(&field.value);
    if (call.module.text(field.name) != "lower" || !value)
      return error_at({}, "STV0659", "{} has one attribute, `lower` = true or false; got `{}`", call.target,
                      call.module.text(field.name));
    lower = *value;
  }
  const ConstOperand& a = call.operands[0];
  const Operand& factor = call.results[0];
  const Operand& info = call.results[1];
  const std::size_t rank = a.shape.size();
  if (rank < 2 || a.shape[rank - 1] != a.shape[rank - 2] || !std::ranges::equal(a.shape, factor.shape))
    return error_at({}, "STV0660", "{} takes square matrices, operand and factor of one shape", call.target);
  if ((a.dtype != Dtype::F32 && a.dtype != Dtype::F64) || factor.dtype != a.dtype)
    return error_at({}, "STV0660", "{} takes f32 or f64, got {} and {}", call.target, name_of(a.dtype),
                    name_of(factor.dtype));
  const auto batch = static_cast<std::size_t>(elements_of(a.shape.first(rank - 2)));
  if (info.dtype != Dtype::S32 || elements_of(info.shape) != static_cast<std::int64_t>(batch))
    return error_at({}, "STV0660", "info of {} is s32 with one element a matrix ({}), got {} with {}", call.target,
                    batch, name_of(info.dtype), elements_of(info.shape));
  const auto n = static_cast<std::size_t>(a.shape[rank - 1]);
  if (factor.bytes.data() != a.bytes.data() && !a.bytes.empty())
    std::memmove(factor.bytes.data(), a.bytes.data(), a.bytes.size());
  std::vector<double> l(n * n);
  for (std::size_t matrix = 0; matrix < batch; ++matrix) {
    // l[i][j], j <= i, whichever triangle it lives in.
    const auto at = [&](std::size_t i, std::size_t j) { return matrix * n * n + (lower ? j * n + i : i * n + j); };
    std::int64_t failed = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) l[i * n + j] = load_double(a.bytes, a.dtype, at(i, j));
    for (std::size_t j = 0; j < n && failed == 0; ++j) {
      double pivot = l[j * n + j];
      for (std::size_t k = 0; k < j; ++k) pivot -= l[j * n + k] * l[j * n + k];
      if (!(pivot > 0)) {
        failed = static_cast<std::int64_t>(j) + 1;
        break;
      }
      pivot = std::sqrt(pivot);
      l[j * n + j] = pivot;
      store_double(factor.bytes, factor.dtype, at(j, j), pivot);
      for (std::size_t i = j + 1; i < n; ++i) {
        double v = l[i * n + j];
        for (std::size_t k = 0; k < j; ++k) v -= l[i * n + k] * l[j * n + k];
        l[i * n + j] = v / pivot;
        store_double(factor.bytes, factor.dtype, at(i, j), l[i * n + j]);
      }
    }
    store_signed(info.bytes, Dtype::S32, matrix, failed);
  }
  return {};
}

}  // namespace

std::span<const CustomCallHandler> custom_calls() {
  static constexpr CustomCallHandler handlers[] = {
      {"cusolver_potrf", "Cholesky factorization of a symmetric matrix, in cuSOLVER's column-major convention",
       cusolver_potrf},
  };
  return handlers;
}

Result<void> interpret_custom_call(const CustomCallArguments& arguments) {
  std::string known;
  for (const CustomCallHandler& handler : custom_calls()) {
    if (handler.target == arguments.target) return handler.run(arguments);
    known += known.empty() ? "" : ", ";
    known += handler.target;
  }
  return error_at({}, "STV0658", "no handler is registered for custom_call target \"{}\"; there are: {}",
                  arguments.target, known);
}

}  // namespace stave
