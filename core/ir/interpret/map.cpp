#include <algorithm>
#include <array>
#include <cmath>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/reduction.h"

namespace stave {
namespace {

using NodeOp = LambdaNode::Op;

// Elements evaluated at once; even, so that two s4 of a byte are in one block.
constexpr std::size_t map_block = 256;

// The values of one node for a block: `real` if its dtype is a float, `integer` otherwise.
struct Column {
  std::array<double, map_block> real;
  std::array<std::uint64_t, map_block> integer;
};

bool needs_float(NodeOp op) { return op >= NodeOp::Exp && op <= NodeOp::Erf && op != NodeOp::Abs; }
bool is_comparison(NodeOp op) { return op >= NodeOp::Lt && op <= NodeOp::Ge; }

int inputs_of(NodeOp op) {
  switch (op) {
    case NodeOp::Argument:
    case NodeOp::Constant: return 0;
    case NodeOp::Neg:
    case NodeOp::Abs:
    case NodeOp::Exp:
    case NodeOp::Log:
    case NodeOp::Sin:
    case NodeOp::Cos:
    case NodeOp::Tanh:
    case NodeOp::Sqrt:
    case NodeOp::Rsqrt:
    case NodeOp::Erf:
    case NodeOp::Cast: return 1;
    case NodeOp::Select: return 3;
    default: return 2;
  }
}

Result<void> check_node(const Lambda& f, std::size_t at, std::span<const ConstOperand> operands) {
  const LambdaNode& node = f.nodes[at];
  const std::array<std::uint32_t, 3> inputs = {node.a, node.b, node.c};
  for (int i = 0; i < inputs_of(node.op); ++i)
    if (inputs[i] >= at)
      return error_at({}, "STV0654", "lambda node {} uses node {}; a node uses nodes before it", at, inputs[i]);
  const auto dtype = [&](std::uint32_t n) { return f.nodes[n].dtype; };
  const auto unlike = [&](Dtype a, Dtype b) {
    return error_at({}, "STV0653", "`{}` takes operands of one dtype, got {} and {}", name_of(node.op), name_of(a),
                    name_of(b));
  };
  if (node.op == NodeOp::Argument) {
    if (node.a >= operands.size())
      return error_at({}, "STV0654", "lambda argument {} of {} operands", node.a, operands.size());
    if (operands[node.a].dtype != node.dtype)
      return error_at({}, "STV0653", "lambda argument {} is {}, its operand is {}", node.a, name_of(node.dtype),
                      name_of(operands[node.a].dtype));
    return {};
  }
  if (node.op == NodeOp::Constant || node.op == NodeOp::Cast) return {};
  if (needs_float(node.op) && !is_float(node.dtype))
    return error_at({}, "STV0653", "`{}` is a function of floats, got {}", name_of(node.op), name_of(node.dtype));
  if (node.op == NodeOp::Select) {
    if (dtype(node.a) != Dtype::Bool)
      return error_at({}, "STV0653", "the condition of `select` is bool, got {}", name_of(dtype(node.a)));
    if (dtype(node.b) != node.dtype || dtype(node.c) != node.dtype) return unlike(dtype(node.b), dtype(node.c));
    return {};
  }
  if (inputs_of(node.op) == 2 && dtype(node.a) != dtype(node.b)) return unlike(dtype(node.a), dtype(node.b));
  const Dtype expected = is_comparison(node.op) ? Dtype::Bool : dtype(node.a);
  if (node.dtype != expected)
    return error_at({}, "STV0654", "lambda node {} (`{}`) gives {}, not {}", at, name_of(node.op), name_of(expected),
                    name_of(node.dtype));
  return {};
}

Result<void> check(const Lambda& f, std::span<const ConstOperand> operands, std::span<const Operand> results) {
  if (operands.size() != f.arity || results.size() != f.results.size() || results.empty())
    return error_at({}, "STV0651", "a lambda of {} arguments and {} results got {} operands and {} results", f.arity,
                    f.results.size(), operands.size(), results.size());
  const auto shape = results[0].shape;
  for (const Operand& result : results)
    if (!std::ranges::equal(result.shape, shape))
      return error_at({}, "STV0652", "the results of a map have one shape; result 0 has {} elements, another {}",
                      elements_of(shape), elements_of(result.shape));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto own = operands[i].shape;
    const bool suffix = own.size() <= shape.size() && std::equal(own.rbegin(), own.rend(), shape.rbegin());
    if (!suffix && elements_of(own) != 1)
      return error_at({}, "STV0652",
                      "operand {} of a map has {} elements in {} dimensions; its shape must be a suffix of the "
                      "results' shape or one element",
                      i, elements_of(own), own.size());
  }
  for (std::size_t i = 0; i < f.nodes.size(); ++i) TRY_VOID(check_node(f, i, operands));
  for (const std::uint32_t r : f.results)
    if (r >= f.nodes.size()) return error_at({}, "STV0654", "lambda result {} of {} nodes", r, f.nodes.size());
  return {};
}

double mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double real_value(NodeOp op, Dtype dtype, double a, double b) {
  switch (op) {
    case NodeOp::Neg: return -a;
    case NodeOp::Add: return a + b;
    case NodeOp::Sub: return a - b;
    case NodeOp::Mul: return a * b;
    case NodeOp::Div: return a / b;
    // The quotient is rounded before `floor`, as a GPU's floorf(a / b) does.
    case NodeOp::FloorDiv:
      return std::floor(dtype == Dtype::F64 ? a / b : static_cast<double>(static_cast<float>(a / b)));
    case NodeOp::Mod: return mod(a, b);
    case NodeOp::Abs: return std::fabs(a);
    case NodeOp::Exp: return std::exp(a);
    case NodeOp::Log: return std::log(a);
    case NodeOp::Sin: return std::sin(a);
    case NodeOp::Cos: return std::cos(a);
    case NodeOp::Tanh: return std::tanh(a);
    case NodeOp::Sqrt: return std::sqrt(a);
    case NodeOp::Rsqrt: return 1 / std::sqrt(a);
    case NodeOp::Erf: return std::erf(a);
    case NodeOp::Min: return min_of(a, b);
    case NodeOp::Max: return max_of(a, b);
    default: return a;
  }
}

// Quotients by zero have all bits set and x mod 0 is x, as XLA defines them; the most
// negative number divided by -1 wraps to itself.
std::uint64_t divided(NodeOp op, bool with_sign, std::uint64_t a, std::uint64_t b) {
  if (b == 0) return op == NodeOp::Mod ? a : ~std::uint64_t{0};
  if (!with_sign) return op == NodeOp::Mod ? a % b : a / b;
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  if (y == -1) return op == NodeOp::Mod ? 0 : ~a + 1;
  const bool down = op != NodeOp::Div && x % y != 0 && (x < 0) != (y < 0);
  if (op == NodeOp::Mod) return static_cast<std::uint64_t>(down ? x % y + y : x % y);
  return static_cast<std::uint64_t>(down ? x / y - 1 : x / y);
}

std::uint64_t integer_value(NodeOp op, bool with_sign, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case NodeOp::Neg: return ~a + 1;
    case NodeOp::Add: return a + b;
    case NodeOp::Sub: return a - b;
    case NodeOp::Mul: return a * b;
    case NodeOp::Div:
    case NodeOp::FloorDiv:
    case NodeOp::Mod: return divided(op, with_sign, a, b);
    case NodeOp::Abs: return with_sign && static_cast<std::int64_t>(a) < 0 ? ~a + 1 : a;
    case NodeOp::Min: return combined(Reduction::Min, with_sign, a, b);
    case NodeOp::Max: return combined(Reduction::Max, with_sign, a, b);
    default: return a;
  }
}

template <class T, class Less>
bool compared(NodeOp op, T a, T b, Less less) {
  switch (op) {
    case NodeOp::Lt: return less(a, b);
    case NodeOp::Le: return less(a, b) || a == b;
    case NodeOp::Eq: return a == b;
    case NodeOp::Ne: return a != b;
    case NodeOp::Gt: return less(b, a);
    default: return less(b, a) || a == b;
  }
}

void cast(Dtype from, Dtype to, const Column& in, Column& out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (is_float(to)) {
      out.real[i] = is_float(from) ? round_to(to, in.real[i]) : float_of(to, from, in.integer[i]);
    } else {
      out.integer[i] = is_float(from) ? integer_of(to, in.real[i]) : wrapped(to, in.integer[i]);
    }
  }
}

void evaluate(const Lambda& f, const LambdaNode& node, std::vector<Column>& columns, Column& out, std::size_t n) {
  const Column& a = columns[node.a];
  const Column& b = columns[node.b];
  const Dtype of = f.nodes[node.a].dtype;  // of the operands
  if (node.op == NodeOp::Cast) return cast(of, node.dtype, a, out, n);
  if (node.op == NodeOp::Select) {
    const Column& c = columns[node.c];
    for (std::size_t i = 0; i < n; ++i) {
      if (is_float(node.dtype)) {
        out.real[i] = a.integer[i] ? b.real[i] : c.real[i];
      } else {
        out.integer[i] = a.integer[i] ? b.integer[i] : c.integer[i];
      }
    }
    return;
  }
  if (is_comparison(node.op)) {
    const bool with_sign = is_signed(of);
    for (std::size_t i = 0; i < n; ++i)
      out.integer[i] = is_float(of)
                           ? compared(node.op, a.real[i], b.real[i], [](double x, double y) { return x < y; })
                           : compared(node.op, a.integer[i], b.integer[i],
                                      [&](std::uint64_t x, std::uint64_t y) { return less_than(with_sign, x, y); });
    return;
  }
  if (!is_float(node.dtype)) {
    const bool with_sign = is_signed(node.dtype);
    for (std::size_t i = 0; i < n; ++i)
      out.integer[i] = wrapped(node.dtype, integer_value(node.op, with_sign, a.integer[i], b.integer[i]));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) out.real[i] = real_value(node.op, node.dtype, a.real[i], b.real[i]);
  if (node.dtype == Dtype::F64) return;
  // f32 arithmetic in double and rounded is f32 arithmetic: 53 >= 2 * 24 + 2 bits
  // (Figueroa 1995). Halves then round from f32.
  for (std::size_t i = 0; i < n; ++i) out.real[i] = static_cast<float>(out.real[i]);
  if (node.dtype == Dtype::F32) return;
  for (std::size_t i = 0; i < n; ++i) out.real[i] = round_to(node.dtype, out.real[i]);
}

void fill_constant(const LambdaNode& node, Column& out) {
  Column one;
  const bool from_float = is_float(node.value.dtype);
  one.real[0] = node.value.number;
  one.integer[0] = static_cast<std::uint64_t>(node.value.integer);
  const Dtype wide = from_float ? Dtype::F64 : node.value.dtype;
  cast(wide, node.dtype, one, out, 1);
  if (is_float(node.dtype)) {
    std::fill(out.real.begin(), out.real.end(), out.real[0]);
  } else {
    std::fill(out.integer.begin(), out.integer.end(), out.integer[0]);
  }
}

// Elements first to first + n - 1 of the results' index space; a smaller operand repeats.
void load_argument(const ConstOperand& operand, std::size_t first, std::size_t n, Column& out) {
  const auto size = static_cast<std::size_t>(elements_of(operand.shape));
  for (std::size_t done = 0; done < n;) {
    const std::size_t at = (first + done) % size;
    const std::size_t run = std::min(n - done, size - at);
    if (is_float(operand.dtype)) {
      load_doubles(operand.bytes, operand.dtype, at, run, out.real.data() + done);
    } else {
      load_integers(operand.bytes, operand.dtype, at, run, out.integer.data() + done);
    }
    done += run;
  }
}

}  // namespace

Result<void> interpret_map(const Lambda& f, std::span<const ConstOperand> operands, std::span<const Operand> results) {
  TRY_VOID(check(f, operands, results));
  std::vector<Column> columns(f.nodes.size());
  for (std::size_t i = 0; i < f.nodes.size(); ++i)
    if (f.nodes[i].op == NodeOp::Constant) fill_constant(f.nodes[i], columns[i]);
  const auto total = static_cast<std::size_t>(elements_of(results[0].shape));
  for (std::size_t first = 0; first < total; first += map_block) {
    const std::size_t n = std::min(map_block, total - first);
    for (std::size_t i = 0; i < f.nodes.size(); ++i) {
      const LambdaNode& node = f.nodes[i];
      if (node.op == NodeOp::Constant) continue;
      if (node.op == NodeOp::Argument) {
        load_argument(operands[node.a], first, n, columns[i]);
      } else {
        evaluate(f, node, columns, columns[i], n);
      }
    }
    for (std::size_t r = 0; r < results.size(); ++r) {
      const std::uint32_t from = f.results[r];
      const Dtype dtype = f.nodes[from].dtype;
      if (is_float(dtype)) {
        store_doubles(results[r].bytes, results[r].dtype, first, n, columns[from].real.data());
      } else {
        store_integers(results[r].bytes, results[r].dtype, first, n, dtype, columns[from].integer.data());
      }
    }
  }
  return {};
}

}  // namespace stave
