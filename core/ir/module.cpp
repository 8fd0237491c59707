#include "core/ir/module.h"

#include <algorithm>

namespace stave {

Place Module::place(Loc loc) const {
  if (loc == no_loc || line_starts.empty()) return {file};
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), loc);
  const auto line = static_cast<std::uint32_t>(after - line_starts.begin());
  const std::uint32_t column = loc - line_starts[line - 1] + 1;
  return {file, line, column, line, column};
}

FunctionId Module::function_named(StringId name) const {
  for (const Id<Function> id : functions.all())
    if (functions[id].name == name) return id;
  return {};
}

ExprId Module::attr(const Op& op, std::string_view name) const {
  for (const Id<Attr> id : op.attrs)
    if (strings[attrs[id].name] == name) return attrs[id].value;
  return {};
}

namespace {

class Comparison {
 public:
  Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

  bool equal() const {
    return a_.items.size() == b_.items.size() && a_.mesh.size() == b_.mesh.size() &&
           a_.params.size() == b_.params.size() && a_.sources.size() == b_.sources.size() &&
           a_.functions.size() == b_.functions.size() && a_.entries.size() == b_.entries.size() &&
           same_lists(a_.start_comments, b_.start_comments) && same_lists(a_.end_comments, b_.end_comments) &&
           std::equal(a_.items.begin(), a_.items.end(), b_.items.begin(),
                      [this](const Item& x, const Item& y) { return same(x, y); });
  }

 private:
  bool same(StringId x, StringId y) const {
    return static_cast<bool>(x) == static_cast<bool>(y) && (!x || a_.strings[x] == b_.strings[y]);
  }

  const Comment& left(Id<Comment> id) const { return a_.comments[id]; }
  const Comment& right(Id<Comment> id) const { return b_.comments[id]; }
  const Index& left(Id<Index> id) const { return a_.indices[id]; }
  const Index& right(Id<Index> id) const { return b_.indices[id]; }
  const ViewRef& left(Id<ViewRef> id) const { return a_.views[id]; }
  const ViewRef& right(Id<ViewRef> id) const { return b_.views[id]; }
  const Attr& left(Id<Attr> id) const { return a_.attrs[id]; }
  const Attr& right(Id<Attr> id) const { return b_.attrs[id]; }
  const Op& left(Id<Op> id) const { return a_.ops[id]; }
  const Op& right(Id<Op> id) const { return b_.ops[id]; }
  const Region& left(Id<Region> id) const { return a_.regions[id]; }
  const Region& right(Id<Region> id) const { return b_.regions[id]; }
  const Formal& left(Id<Formal> id) const { return a_.formals[id]; }
  const Formal& right(Id<Formal> id) const { return b_.formals[id]; }
  ExprId left(Id<ExprListTag> id) const { return a_.expr_lists[id]; }
  ExprId right(Id<ExprListTag> id) const { return b_.expr_lists[id]; }

  template <class Tag>
  bool same_lists(IdRange<Tag> x, IdRange<Tag> y) const {
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same(left(x[i]), right(y[i]))) return false;
    return true;
  }

  bool same(const Comment& x, const Comment& y) const {
    return x.trailing == y.trailing && x.blank_before == y.blank_before && same(x.text, y.text);
  }

  bool same(ExprId x, ExprId y) const {
    if (!x || !y) return x == y;
    const Expr& e = a_.exprs[x];
    const Expr& f = b_.exprs[y];
    if (e.kind != f.kind) return false;
    switch (e.kind) {
      case ExprKind::Integer: return e.bits == f.bits && e.hex == f.hex;
      case ExprKind::Float: return e.bits == f.bits;
      case ExprKind::String:
      case ExprKind::Symbol:
      case ExprKind::Name: return same(e.string(), f.string());
      case ExprKind::Typed: return same(StringId{e.a().value}, StringId{f.a().value}) && same(e.b(), f.b());
      case ExprKind::Negate: return same(e.a(), f.a());
      case ExprKind::Binary: return e.op == f.op && same(e.a(), f.a()) && same(e.b(), f.b());
      case ExprKind::Arrow:
      case ExprKind::Span: return same(e.a(), f.a()) && same(e.b(), f.b());
      case ExprKind::Apply:
      case ExprKind::Tuple:
      case ExprKind::List:
      case ExprKind::Record:
      case ExprKind::Lambda: return same_lists(e.children(), f.children());
    }
    return false;
  }

  bool same(TypeId x, TypeId y) const {
    if (!x || !y) return x == y;
    const TypeExpr& s = a_.types[x];
    const TypeExpr& t = b_.types[y];
    return s.space == t.space && s.dtype == t.dtype && same_lists(s.dims, t.dims);
  }

  bool same(const Index& x, const Index& y) const {
    return x.kind == y.kind && same(x.begin, y.begin) && same(x.end, y.end);
  }

  bool same(const ViewRef& x, const ViewRef& y) const {
    return same(x.value, y.value) && same_lists(x.indices, y.indices) && same(x.as, y.as);
  }

  bool same(const Attr& x, const Attr& y) const { return same(x.name, y.name) && same(x.value, y.value); }

  bool same(const Op& x, const Op& y) const {
    return x.kind == y.kind && x.blank_before == y.blank_before && same(x.result, y.result) &&
           same(x.result_index, y.result_index) && same(x.callee, y.callee) && same(x.type, y.type) &&
           same_lists(x.operands, y.operands) && same_lists(x.results, y.results) && same_lists(x.attrs, y.attrs) &&
           same_lists(x.comments, y.comments) && same_lists(x.regions, y.regions);
  }

  bool same(const Region& x, const Region& y) const {
    return same(x.label, y.label) && same_lists(x.comments, y.comments) && same_lists(x.ops, y.ops);
  }

  bool same(const Formal& x, const Formal& y) const {
    return same(x.name, y.name) && x.direction == y.direction && same(x.type, y.type) && same_lists(x.attrs, y.attrs);
  }

  bool same(const Item& x, const Item& y) const {
    if (x.kind != y.kind || x.count != y.count || x.blank_before != y.blank_before ||
        !same_lists(x.comments, y.comments))
      return false;
    switch (x.kind) {
      case Item::Kind::Mesh:
        for (std::uint32_t i = 0; i < x.count; ++i) {
          const MeshAxis& s = a_.mesh[x.first + i];
          const MeshAxis& t = b_.mesh[y.first + i];
          if (!same(s.name, t.name) || s.size != t.size) return false;
        }
        return true;
      case Item::Kind::Param: {
        const ParamDecl& s = a_.params[x.first];
        const ParamDecl& t = b_.params[y.first];
        return same(s.name, t.name) && same(s.value, t.value) && same(s.allowed, t.allowed);
      }
      case Item::Kind::Source: {
        const SourceDecl& s = a_.sources[x.first];
        const SourceDecl& t = b_.sources[y.first];
        return same(s.name, t.name) && same(s.language, t.language) && same(s.text, t.text);
      }
      case Item::Kind::Function: {
        const Function& s = a_.functions[FunctionId{x.first}];
        const Function& t = b_.functions[FunctionId{y.first}];
        return same(s.name, t.name) && same_lists(s.formals, t.formals) && same(a_.regions[s.body], b_.regions[t.body]);
      }
      case Item::Kind::Entry: {
        const EntryDecl& s = a_.entries[x.first];
        const EntryDecl& t = b_.entries[y.first];
        return same(s.function, t.function) && same(s.ranks, t.ranks);
      }
    }
    return false;
  }

  const Module& a_;
  const Module& b_;
};

}  // namespace

bool operator==(const Module& a, const Module& b) { return Comparison(a, b).equal(); }

}  // namespace stave
