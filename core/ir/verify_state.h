// What the rules of `verify` share: how to report, how views lie to each other.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/expand_coord.h"
#include "core/ir/expand_text.h"
#include "core/ir/expanded.h"

namespace stave {

inline constexpr std::size_t max_problems = 100;

// How two views lie over all coordinates of the mesh.
struct Relation {
  bool overlap = false;  // somewhere they share bytes
  bool partial = false;  // somewhere they share bytes and are not the same bytes
  std::string where;     // the coordinates of the worst, " at x = 1", or empty
};

// Groups of one (axes, groups) pair, checked once.
struct GroupFacts {
  std::string problem;               // why they are no partition; empty if they are
  std::vector<std::uint32_t> sizes;  // distinct, ascending
};

class Verification {
 public:
  Verification(const Expanded& expanded, Problems& problems)
      : e(expanded), coords_(expanded.coord_exprs, expanded.mesh), problems_(&problems) {}

  const Expanded& e;

  // One problem for each rule and statement: the first of its iterations.
  template <class... Args>
  void problem(const Command& c, Loc loc, std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
    if (!is_new(c.op, code)) return;
    add(c, loc, code, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void problem(const Command& c, std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
    problem(c, no_loc, code, format, std::forward<Args>(args)...);
  }
  // Puts a note at the last problem, if `code` is its code.
  void note(std::string_view code, std::string message, Loc loc);
  bool full() const { return problems_->size() >= max_problems; }

  Place place(const Command& c) const { return e.place(c); }
  std::string type(const View& v) const { return type_text(v.dtype, e.shape(v)); }
  std::string name(const View& v) const;
  const View& operand(const Command& c, std::size_t i) const { return e.views[c.operands[i]]; }
  const View& result(const Command& c, std::size_t i) const { return e.views[c.results[i]]; }
  CoordFacts facts(CoordInt v) const { return coords_.facts(v); }

  Relation relation(const View& a, const View& b) const;
  // Calls f(i, j) for positions of views that may share bytes; i < j.
  template <class F>
  void for_each_near_pair(std::span<const ViewId> views, F&& f) const;
  const GroupFacts& groups(const CollectiveAttributes& c);

 private:
  bool is_new(OpId op, std::string_view code) {
    return !full() && reported_.emplace(op.value, std::string(code)).second;
  }
  void add(const Command& c, Loc loc, std::string_view code, std::string message);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> near_pairs(std::span<const ViewId> views) const;

  CoordTable coords_;
  Problems* problems_;
  std::set<std::pair<std::uint32_t, std::string>> reported_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, GroupFacts> groups_;
};

template <class F>
void Verification::for_each_near_pair(std::span<const ViewId> views, F&& f) const {
  for (const auto& [i, j] : near_pairs(views)) f(i, j);
}

// The rules of one command beside those that all have; one overload an op.
void check(Verification& v, const Command& c, const Memzero& op);
void check(Verification& v, const Command& c, const Memset& op);
void check(Verification& v, const Command& c, const Copy& op);
void check(Verification& v, const Command& c, const Map& op);
void check(Verification& v, const Command& c, const Gemm& op);
void check(Verification& v, const Command& c, const Reduce& op);
void check(Verification& v, const Command& c, const Kernel& op);
void check(Verification& v, const Command& c, const CustomCall& op);
void check(Verification& v, const Command& c, const Cond& op);
void check(Verification& v, const Command& c, const Switch& op);
void check(Verification& v, const Command& c, const While& op);
void check(Verification& v, const Command& c, const AsyncStart& op);
void check(Verification& v, const Command& c, const AsyncDone& op);
void check(Verification& v, const Command& c, const AllReduce& op);
void check(Verification& v, const Command& c, const AllGather& op);
void check(Verification& v, const Command& c, const ReduceScatter& op);
void check(Verification& v, const Command& c, const AllToAll& op);
void check(Verification& v, const Command& c, const CollectivePermute& op);
void check(Verification& v, const Command& c, const Broadcast& op);
void check(Verification& v, const Command& c, const Send& op);
void check(Verification& v, const Command& c, const Recv& op);
void check(Verification& v, const Command& c, const CollectiveGroup& op);
void check(Verification& v, const Command& c, const RangeMark& op);

// Rule 10. What an op allows where an operand and a result share bytes.
enum class Sharing : std::uint8_t { Disjoint, EqualOrDisjoint };
void check_sharing(Verification& v, const Command& c, Sharing sharing, std::size_t skip_operand = 0xffffffff);
void check_device(Verification& v, const Command& c);
// Two results of one command must not share bytes.
void check_results_disjoint(Verification& v, const Command& c);
// Tokens, over all regions (rule 4).
void check_tokens(Verification& v);

}  // namespace stave
