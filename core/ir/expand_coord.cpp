#include "core/ir/expand_coord.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace stave {
namespace {

using Wide = __int128;
using CoordOp = CoordExpr::Op;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

struct WideRange {
  Wide low, high;
};

Wide floor_div_wide(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

WideRange range_of(CoordOp op, const CoordFacts& a, const CoordFacts& b) {
  const Wide al = a.low, ah = a.high, bl = b.low, bh = b.high;
  switch (op) {
    case CoordOp::Add: return {al + bl, ah + bh};
    case CoordOp::Sub: return {al - bh, ah - bl};
    case CoordOp::Mul: {
      const auto [low, high] = std::minmax({al * bl, al * bh, ah * bl, ah * bh});
      return {low, high};
    }
    case CoordOp::Div: {
      if (bl <= 0 && bh >= 0) {
        const Wide size = std::max(al < 0 ? -al : al, ah < 0 ? -ah : ah);
        return {-size, size};
      }
      const auto [low, high] =
          std::minmax({floor_div_wide(al, bl), floor_div_wide(al, bh), floor_div_wide(ah, bl), floor_div_wide(ah, bh)});
      return {low, high};
    }
    case CoordOp::Mod:
      if (bl > 0 && al >= 0 && ah < bl) return {al, ah};
      return {std::min<Wide>(0, bl + 1), std::max<Wide>(0, bh - 1)};
    case CoordOp::Constant:
    case CoordOp::Axis: break;
  }
  return {0, 0};
}

std::int64_t apply(CoordOp op, std::int64_t a, std::int64_t b) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case CoordOp::Add: return static_cast<std::int64_t>(ua + ub);
    case CoordOp::Sub: return static_cast<std::int64_t>(ua - ub);
    case CoordOp::Mul: return static_cast<std::int64_t>(ua * ub);
    case CoordOp::Div: return b == 0 ? 0 : floor_div(a, b);
    case CoordOp::Mod: return b == 0 ? 0 : floor_mod(a, b);
    case CoordOp::Constant:
    case CoordOp::Axis: break;
  }
  return 0;
}

std::int64_t value_of(const Store<CoordExpr>& exprs, CoordExprId id, std::span<const std::int64_t> coordinates) {
  const CoordExpr& e = exprs[id];
  if (e.op == CoordOp::Constant) return e.value;
  if (e.op == CoordOp::Axis) return coordinates[e.axis];
  return apply(e.op, value_of(exprs, e.a, coordinates), value_of(exprs, e.b, coordinates));
}

std::string_view sign_of(CoordOp op) {
  switch (op) {
    case CoordOp::Add: return "+";
    case CoordOp::Sub: return "-";
    case CoordOp::Mul: return "*";
    case CoordOp::Div: return "div";
    case CoordOp::Mod: return "mod";
    case CoordOp::Constant:
    case CoordOp::Axis: break;
  }
  return "";
}

std::string text_of(const Store<CoordExpr>& exprs, const Mesh& mesh, CoordExprId id, bool outer) {
  const CoordExpr& e = exprs[id];
  if (e.op == CoordOp::Constant) return std::to_string(e.value);
  if (e.op == CoordOp::Axis) return mesh.axes[e.axis];
  return fmt::format("{}{} {} {}{}", outer ? "" : "(", text_of(exprs, mesh, e.a, false), sign_of(e.op),
                     text_of(exprs, mesh, e.b, false), outer ? "" : ")");
}

}  // namespace

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return static_cast<std::int64_t>(-static_cast<std::uint64_t>(a));
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::int64_t value_at(const Store<CoordExpr>& exprs, CoordInt value, std::span<const std::int64_t> coordinates) {
  return value.varying ? value_of(exprs, value.varying, coordinates) : value.constant;
}

void CoordTable::update() {
  for (std::size_t i = facts_.size(); i < exprs_->size(); ++i) {
    const CoordExpr& e = (*exprs_)[CoordExprId{i}];
    CoordFacts f;
    if (e.op == CoordOp::Constant) {
      f.low = f.high = e.value;
    } else if (e.op == CoordOp::Axis) {
      f = {0, mesh_->sizes[e.axis] - 1, std::uint64_t{1} << e.axis, 1};
    } else {
      const CoordFacts &a = facts_[e.a.value], &b = facts_[e.b.value];
      const WideRange r = range_of(e.op, a, b);
      f = {static_cast<std::int64_t>(std::max<Wide>(r.low, lowest)),
           static_cast<std::int64_t>(std::min<Wide>(r.high, highest)), a.axes | b.axes, std::max(a.depth, b.depth) + 1};
    }
    facts_.push_back(f);
  }
}

CoordFacts CoordTable::facts(CoordInt value) const {
  if (value.varying) return facts_[value.varying.value];
  return {value.constant, value.constant, 0, 0};
}

std::size_t CoordPool::Hash::operator()(const CoordExpr& e) const {
  std::uint64_t h = static_cast<std::uint64_t>(e.op) << 32 ^ e.axis;
  for (const std::uint64_t part :
       {std::uint64_t{e.a.value}, std::uint64_t{e.b.value}, static_cast<std::uint64_t>(e.value)}) {
    h = (h ^ part) * 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio: spreads neighbours
    h ^= h >> 29;
  }
  return h;
}

CoordExprId CoordPool::intern(const CoordExpr& expr) {
  const auto [at, added] = ids_.try_emplace(expr, exprs_->next_id());
  if (added) {
    exprs_->add(expr);
    table_.update();
  }
  return at->second;
}

CoordExprId CoordPool::id_of(CoordInt value) {
  if (value.varying) return value.varying;
  CoordExpr constant;
  constant.value = value.constant;
  return intern(constant);
}

CoordInt CoordPool::axis(std::uint32_t axis) {
  if (mesh_->sizes[axis] == 1) return {};
  CoordExpr e;
  e.op = CoordOp::Axis;
  e.axis = axis;
  return {0, intern(e)};
}

CoordPool::Answer CoordPool::combine(CoordOp op, CoordInt a, CoordInt b) {
  const bool divides = op == CoordOp::Div || op == CoordOp::Mod;
  const CoordFacts fa = facts(a), fb = facts(b);
  if (divides && fb.low <= 0 && fb.high >= 0) {
    const bool never_zero = for_each_coordinate(*mesh_, fb.axes, [&](std::span<const std::int64_t> coordinates) {
      return value_at(*exprs_, b, coordinates) != 0;
    });
    if (!never_zero) return {{}, "divides by zero"};
  }
  const WideRange r = range_of(op, fa, fb);
  if (r.low < lowest || r.high > highest) return {{}, "does not fit 64 bits"};
  if (!a.varying && !b.varying) return {{apply(op, a.constant, b.constant), {}}, {}};
  if (r.low == r.high && op != CoordOp::Mod) return {{static_cast<std::int64_t>(r.low), {}}, {}};
  if (!b.varying) {
    if (b.constant == 0 && (op == CoordOp::Add || op == CoordOp::Sub)) return {a, {}};
    if (b.constant == 1 && (op == CoordOp::Mul || op == CoordOp::Div)) return {a, {}};
    if (op == CoordOp::Mod && b.constant > 0 && fa.low >= 0 && fa.high < b.constant) return {a, {}};
    if (op == CoordOp::Mod && (b.constant == 1 || b.constant == -1)) return {{}, {}};
  } else if (!a.varying && a.constant == 0 && op == CoordOp::Add) {
    return {b, {}};
  } else if (!a.varying && a.constant == 1 && op == CoordOp::Mul) {
    return {b, {}};
  }
  if (std::max(fa.depth, fb.depth) >= max_coord_depth) return {{}, "is nested too deeply"};
  CoordExpr e;
  e.op = op;
  e.a = id_of(a);
  e.b = id_of(b);
  return {{0, intern(e)}, {}};
}

std::string coordinates_text(const Mesh& mesh, std::uint64_t axes, std::span<const std::int64_t> coordinates) {
  std::string out;
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (axes >> i & 1) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", mesh.axes[i], coordinates[i]);
  return out;
}

std::string coord_text(const Store<CoordExpr>& exprs, const Mesh& mesh, CoordInt value) {
  return value.varying ? text_of(exprs, mesh, value.varying, true) : std::to_string(value.constant);
}

}  // namespace stave
