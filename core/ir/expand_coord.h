// Integers that depend on mesh coordinates: built once each, constants folded,
// with bounds on their values, so that most offsets are proved in range without
// looking at one rank.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/expanded.h"

namespace stave {

// Axes are sets of bits in a 64-bit word.
inline constexpr std::size_t max_mesh_axes = 64;
// Longer chains are refused, so that evaluating one cannot exhaust the stack.
inline constexpr std::uint32_t max_coord_depth = 256;

// Round down, as `div` and `mod` do; b is not 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);

std::int64_t value_at(const Store<CoordExpr>& exprs, CoordInt value, std::span<const std::int64_t> coordinates);

// low and high are bounds, not always reached.
struct CoordFacts {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint64_t axes = 0;  // bit a: depends on axis a
  std::uint32_t depth = 0;
};

// The facts of each expression in a store, in its order.
class CoordTable {
 public:
  CoordTable(const Store<CoordExpr>& exprs, const Mesh& mesh) : exprs_(&exprs), mesh_(&mesh) { update(); }

  void update();  // after the store grew
  CoordFacts facts(CoordInt value) const;

 private:
  const Store<CoordExpr>* exprs_;
  const Mesh* mesh_;
  std::vector<CoordFacts> facts_;
};

class CoordPool {
 public:
  CoordPool(Store<CoordExpr>& exprs, const Mesh& mesh) : exprs_(&exprs), mesh_(&mesh), table_(exprs, mesh) {}

  CoordInt axis(std::uint32_t axis);
  // `problem` is empty, or says in words why there is no value: overflow,
  // division by zero, too deep.
  struct Answer {
    CoordInt value;
    std::string_view problem;
  };
  Answer combine(CoordExpr::Op op, CoordInt a, CoordInt b);
  CoordFacts facts(CoordInt value) const { return table_.facts(value); }
  const Store<CoordExpr>& exprs() const { return *exprs_; }
  const Mesh& mesh() const { return *mesh_; }

 private:
  struct Hash {
    std::size_t operator()(const CoordExpr& e) const;
  };
  CoordExprId intern(const CoordExpr& expr);
  CoordExprId id_of(CoordInt value);

  Store<CoordExpr>* exprs_;
  const Mesh* mesh_;
  CoordTable table_;
  std::unordered_map<CoordExpr, CoordExprId, Hash> ids_;
};

// Calls f(coordinates) for each combination of the coordinates of `axes` (all
// others 0), last axis fastest, until f returns false. False if it did.
template <class F>
bool for_each_coordinate(const Mesh& mesh, std::uint64_t axes, F&& f) {
  std::vector<std::int64_t> at(mesh.sizes.size(), 0);
  while (true) {
    if (!f(std::span<const std::int64_t>(at))) return false;
    std::size_t axis = at.size();
    while (axis > 0) {
      --axis;
      if ((axes >> axis & 1) == 0) {
        if (axis == 0) return true;
        continue;
      }
      if (++at[axis] < mesh.sizes[axis]) break;
      at[axis] = 0;
      if (axis == 0) return true;
    }
    if (at.empty()) return true;
  }
}

// The same for the combinations that the entry's own ranks have: an entry of
// several does not run everywhere. In the order of its ranks.
template <class F>
bool for_each_own_coordinate(const Expanded& e, std::uint64_t axes, F&& f) {
  if (static_cast<std::int64_t>(e.ranks.size()) == e.mesh.ranks()) return for_each_coordinate(e.mesh, axes, f);
  std::set<std::vector<std::int64_t>> seen;
  for (const Rank rank : e.ranks) {
    std::vector<std::int64_t> at = e.mesh.coordinates(rank);
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      if ((axes >> axis & 1) == 0) at[axis] = 0;
    if (seen.insert(at).second && !f(std::span<const std::int64_t>(at))) return false;
  }
  return true;
}

// "x = 1, y = 0" for the axes in the set.
std::string coordinates_text(const Mesh& mesh, std::uint64_t axes, std::span<const std::int64_t> coordinates);
// "((x - 1) mod 4) * 32"
std::string coord_text(const Store<CoordExpr>& exprs, const Mesh& mesh, CoordInt value);

}  // namespace stave
