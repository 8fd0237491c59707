// The rules of memory, map, gemm, reduce and control flow.
#include <algorithm>
#include <optional>

#include "core/ir/verify_state.h"

namespace stave {
namespace {

using Shape = std::span<const std::int64_t>;

bool is_suffix(Shape small, Shape large) {
  return small.size() <= large.size() && std::ranges::equal(small, large.subspan(large.size() - small.size()));
}

void check_predicate(Verification& v, const Command& c, Dtype dtype, std::string_view code) {
  check_device(v, c);
  const View& p = v.operand(c, 0);
  if (p.dtype == dtype && v.e.elements(p) == 1) return;
  v.problem(c, p.loc, code, "the operand of {} is one {} element, got {}", info_of(kind_of_payload(c.payload)).name,
            name_of(dtype), v.type(p));
}

void check_taken(Verification& v, const Command& c, std::size_t branches) {
  if (!c.cost || !v.e.costs[c.cost].taken) return;
  const std::int64_t taken = *v.e.costs[c.cost].taken;
  if (taken >= static_cast<std::int64_t>(branches))
    v.problem(c, "STV0414", "cost `taken` is the number of a branch from 0 to {}, got {}", branches - 1, taken);
}

bool writes(const Verification& v, CommandRegionId region, const View& target) {
  for (const CommandId id : v.e.regions[region].commands) {
    const Command& c = v.e[id];
    for (const ViewId out : c.results)
      if (v.relation(v.e.views[out], target).overlap) return true;
    for (const CommandRegionId inner : c.regions)
      if (writes(v, inner, target)) return true;
  }
  return false;
}

// What a product of elements of one dtype may be stored as (cuBLASLt's tables).
bool gemm_dtypes(Dtype a, Dtype b, Dtype c) {
  const auto f8 = [](Dtype d) { return d == Dtype::F8E4M3 || d == Dtype::F8E5M2; };
  if (f8(a) && f8(b)) return c == Dtype::F16 || c == Dtype::BF16 || c == Dtype::F32;
  if (a != b) return false;
  if (a == Dtype::F16 || a == Dtype::BF16) return c == a || c == Dtype::F32;
  if (a == Dtype::S8) return c == Dtype::S32;
  return (a == Dtype::F32 || a == Dtype::F64) && c == a;
}

void check_gemm_shapes(Verification& v, const Command& c, const Gemm& op) {
  const View &a = v.operand(c, 0), &b = v.operand(c, 1), &out = v.result(c, 0);
  const Shape sa = v.e.shape(a), sb = v.e.shape(b), sc = v.e.shape(out);
  if (sa.size() < 2 || sa.size() != sb.size() || sa.size() != sc.size()) {
    v.problem(c, "STV0431", "gemm takes matrices with the same number of batch dimensions, got {} x {} -> {}",
              v.type(a), v.type(b), v.type(out));
    return;
  }
  const std::size_t batch = sa.size() - 2;
  if (!std::ranges::equal(sa.first(batch), sb.first(batch)) || !std::ranges::equal(sa.first(batch), sc.first(batch))) {
    v.problem(c, "STV0431", "gemm takes equal batch dimensions, got {} x {} -> {}", v.type(a), v.type(b), v.type(out));
    return;
  }
  const std::int64_t m = sa[batch + (op.transpose_a ? 1 : 0)], k = sa[batch + (op.transpose_a ? 0 : 1)];
  const std::int64_t kb = sb[batch + (op.transpose_b ? 1 : 0)], n = sb[batch + (op.transpose_b ? 0 : 1)];
  if (k != kb)
    v.problem(c, "STV0432", "gemm sums over k, which is {} in {} and {} in {}", k, v.type(a), kb, v.type(b));
  else if (m != sc[batch] || n != sc[batch + 1])
    v.problem(c, out.loc, "STV0432", "gemm gives [{}, {}] for each matrix, got {} for the result", m, n, v.type(out));
}

}  // namespace

void check(Verification& v, const Command& c, const Memzero&) { check_device(v, c); }

void check(Verification& v, const Command& c, const Memset& op) {
  check_device(v, c);
  const Dtype d = op.value.dtype;
  if (d != Dtype::F32 && d != Dtype::S32 && d != Dtype::U32)
    v.problem(c, "STV0404", "memset takes an f32, s32 or u32 number, got {}", name_of(d));
  const View& out = v.result(c, 0);
  if (bits_of(out.dtype) != 32)
    v.problem(c, out.loc, "STV0405", "memset fills elements of 32 bits, got {}", v.type(out));
}

void check(Verification& v, const Command& c, const Copy&) {
  const View &in = v.operand(c, 0), &out = v.result(c, 0);
  if (in.bytes != out.bytes)
    v.problem(c, "STV0401", "copy needs equal sizes, got {} bytes ({}) and {} bytes ({})", in.bytes, v.type(in),
              out.bytes, v.type(out));
  if (v.e.buffers[in.buffer].space == Space::Host && v.e.buffers[out.buffer].space == Space::Host)
    v.problem(c, "STV0402", "copy from host to host is no GPU command: {} and {} are both in host memory", v.name(in),
              v.name(out));
  check_sharing(v, c, Sharing::Disjoint);
}

void check(Verification& v, const Command& c, const Map& op) {
  check_device(v, c);
  check_results_disjoint(v, c);
  check_sharing(v, c, Sharing::EqualOrDisjoint);
  const Lambda& f = v.e.lambdas[op.f];
  if (f.arity != c.operands.size())
    v.problem(c, "STV0450", "the lambda takes {} value(s), map has {} operand(s)", f.arity, c.operands.size());
  if (f.results.size() != c.results.size())
    v.problem(c, "STV0451", "the lambda gives {} value(s), map has {} result(s)", f.results.size(), c.results.size());
  const View& first = v.result(c, 0);
  for (const ViewId id : c.results)
    if (!std::ranges::equal(v.e.shape(v.e.views[id]), v.e.shape(first)))
      v.problem(c, v.e.views[id].loc, "STV0454", "the results of map have one shape, got {} and {}", v.type(first),
                v.type(v.e.views[id]));
  for (const ViewId id : c.operands) {
    const View& in = v.e.views[id];
    if (in.dtype != v.operand(c, 0).dtype)
      v.problem(c, in.loc, "STV0452", "the operands of map have one dtype, got {} and {}; there is no promotion",
                v.type(v.operand(c, 0)), v.type(in));
    if (v.e.elements(in) != 1 && !is_suffix(v.e.shape(in), v.e.shape(first)))
      v.problem(c, in.loc, "STV0453",
                "an operand of map is a scalar or has the last dimensions of the result {}, got {}", v.type(first),
                v.type(in));
  }
}

void check(Verification& v, const Command& c, const Gemm& op) {
  check_device(v, c);
  const bool adds = op.beta != 0, bias = op.epilogue == Epilogue::Bias;
  const std::size_t expected = 2 + (adds ? 1 : 0) + (bias ? 1 : 0);
  check_sharing(v, c, Sharing::Disjoint, adds ? 2 : 0xffffffff);
  const View &a = v.operand(c, 0), &b = v.operand(c, 1), &out = v.result(c, 0);
  if (!gemm_dtypes(a.dtype, b.dtype, out.dtype))
    v.problem(c, "STV0430", "gemm has no form for {} x {} -> {}", name_of(a.dtype), name_of(b.dtype),
              name_of(out.dtype));
  check_gemm_shapes(v, c, op);
  if (op.sm_count < 0) v.problem(c, "STV0436", "sm_count is a number of SMs or 0 for all, got {}", op.sm_count);
  if (c.operands.size() != expected) {
    v.problem(c, "STV0434", "gemm with beta = {} and epilogue = {} takes {} operands, got {}{}", op.beta,
              name_of(op.epilogue), expected, c.operands.size(),
              adds && c.operands.size() < expected ? ": the destination is the third, because it is read" : "");
    return;
  }
  if (adds) {
    const View& old = v.operand(c, 2);
    if (old.buffer != out.buffer || old.offset != out.offset || old.bytes != out.bytes || old.dtype != out.dtype)
      v.problem(c, old.loc, "STV0433",
                "gemm with beta other than 0 updates its destination: the third operand is {}, got {}",
                view_text(v.e, out), view_text(v.e, old));
  }
  if (bias) {
    const View& last = v.operand(c, expected - 1);
    const Shape s = v.e.shape(out);
    if (last.dtype != out.dtype || v.e.shape(last).size() != 1 || s.empty() || v.e.shape(last)[0] != s.back())
      v.problem(c, last.loc, "STV0435", "the bias is the last operand, {}[{}], got {}", name_of(out.dtype),
                s.empty() ? 0 : s.back(), v.type(last));
  }
}

void check(Verification& v, const Command& c, const Reduce& op) {
  check_device(v, c);
  check_sharing(v, c, Sharing::Disjoint);
  const View &in = v.operand(c, 0), &out = v.result(c, 0);
  const Shape shape = v.e.shape(in);
  std::vector<bool> gone(shape.size());
  for (const std::int64_t axis : v.e.ints[op.axes]) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) {
      v.problem(c, "STV0440", "{}, so reduce cannot go over dimension {}",
                shape.empty()       ? fmt::format("{} is a scalar and has no dimensions", v.type(in))
                : shape.size() == 1 ? fmt::format("{} has dimension 0 only", v.type(in))
                                    : fmt::format("{} has dimensions 0 to {}", v.type(in), shape.size() - 1),
                axis);
      return;
    }
    if (gone[static_cast<std::size_t>(axis)]) v.problem(c, "STV0440", "reduce names dimension {} twice", axis);
    gone[static_cast<std::size_t>(axis)] = true;
  }
  std::vector<std::int64_t> left;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!gone[i]) left.push_back(shape[i]);
  if (!std::ranges::equal(left, v.e.shape(out)))
    v.problem(c, out.loc, "STV0441", "this reduction of {} gives {}, got {} for the result", v.type(in),
              type_text(in.dtype, left), v.type(out));
  if (in.dtype != out.dtype)
    v.problem(c, out.loc, "STV0442", "reduce keeps the dtype, got {} and {}", name_of(in.dtype), name_of(out.dtype));
  else if (in.dtype == Dtype::Bool || bits_of(in.dtype) < 8)
    v.problem(c, in.loc, "STV0442", "reduce is not defined for {}", name_of(in.dtype));
}

void check(Verification& v, const Command& c, const Cond&) {
  check_predicate(v, c, Dtype::Bool, "STV0410");
  check_taken(v, c, 2);
}

void check(Verification& v, const Command& c, const Switch&) {
  check_predicate(v, c, Dtype::S32, "STV0411");
  check_taken(v, c, c.regions.size());
}

void check(Verification& v, const Command& c, const While&) {
  check_predicate(v, c, Dtype::Bool, "STV0412");
  if (!c.regions.empty() && !writes(v, c.regions[0], v.operand(c, 0)))
    v.problem(c, v.operand(c, 0).loc, "STV0413",
              "the condition of while never writes {}, so the loop would not start or never end",
              view_text(v.e, v.operand(c, 0)));
}

void check(Verification&, const Command&, const AsyncStart&) {}
void check(Verification&, const Command&, const AsyncDone&) {}
void check(Verification&, const Command&, const RangeMark&) {}

}  // namespace stave
