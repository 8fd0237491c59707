// Random modules of the source form: every op, region, kind of expression and
// comment. They keep the rules that the parser checks, and no others: names need
// not be declared, sizes need not fit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/ir/module.h"
#include "core/ir/region_stack.h"

namespace stave {

class RandomModule {
 public:
  RandomModule(std::uint64_t seed, std::size_t statements) : random_(seed), left_(statements) {}

  Module make() {
    m_.file = "random";
    m_.start_comments = comments(true);
    const std::size_t items = 1 + pick(6);
    for (std::size_t i = 0; i < items; ++i) item();
    m_.end_comments = comments(false);
    return std::move(m_);
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  bool maybe() { return pick(2) == 0; }
  bool rarely() { return pick(6) == 0; }

  StringId word() {
    static constexpr const char* words[] = {"x",   "y",    "n",    "ring", "mod",   "div", "as",    "in",   "host",
                                            "sum", "func", "gemm", "axis", "entry", "_1",  "param", "true", "stave"};
    return m_.strings.intern(words[pick(std::size(words))]);
  }
  StringId value_name() { return maybe() ? word() : m_.strings.intern(std::to_string(pick(100))); }
  // Every declaration has a name of its own.
  StringId fresh(const char* prefix) { return m_.strings.intern(prefix + std::to_string(fresh_++)); }
  StringId bytes() {
    std::string text;
    const std::size_t n = pick(8);
    for (std::size_t i = 0; i < n; ++i) {
      static constexpr const char* parts[] = {"a",    "\n", "\t", "\"",     "\\", "\x01",
                                              "\xff", "{",  "//", "\"\"\"", "\r", "é"};
      text += parts[pick(std::size(parts))];
    }
    if (rarely()) text += '\0';
    return m_.strings.intern(text);
  }

  IdRange<Comment> comments(bool may_trail, bool blank_first = false) {
    const std::size_t first = m_.comments.size();
    while (pick(4) == 0) {
      const bool blank = maybe() && (blank_first || m_.comments.size() > first);
      m_.comments.add({m_.strings.intern(maybe() ? " words, \"quoted\" { (" : ""), false, blank});
    }
    if (may_trail && pick(5) == 0) m_.comments.add({m_.strings.intern(" behind"), true, false});
    return m_.comments.range_from(first);
  }

  // ---- expressions ----

  ExprId add(const Expr& e) { return m_.exprs.add(e); }

  ExprList store(const std::vector<ExprId>& ids) {
    const std::size_t first = m_.expr_lists.size();
    for (const ExprId id : ids) m_.expr_lists.add(id);
    return m_.expr_lists.range_from(first);
  }

  ExprId number() {
    switch (pick(4)) {
      case 0: return add(Expr::integer(static_cast<std::int64_t>(random_()), no_loc, true));
      case 1: {
        const std::uint64_t bits = random_() & 0x7fffffffffffffff;
        double v = 0;
        std::memcpy(&v, &bits, sizeof(v));
        return add(Expr::number(std::isfinite(v) ? v : 0.0));
      }
      case 2: return add(Expr::integer(static_cast<std::int64_t>(random_() >> 1)));
      default: return add(Expr::integer(static_cast<std::int64_t>(pick(10))));
    }
  }

  StringId callable() { return maybe() ? m_.strings.intern(name_of(static_cast<Dtype>(pick(dtype_count)))) : word(); }

  ExprId expr(int depth = 4) {
    if (depth == 0 || rarely()) return maybe() ? number() : add(Expr::text(ExprKind::Name, word()));
    switch (pick(6)) {
      case 0: {
        const ExprId n = number();
        return add(Expr::pair(ExprKind::Typed, callable().value, n.value));
      }
      case 1: {
        std::vector<ExprId> children = {add(Expr::text(ExprKind::Name, callable()))};
        do children.push_back(expr(depth - 1));
        while (rarely());
        return add(Expr::list(ExprKind::Apply, store(children)));
      }
      case 2: {
        const ExprId a = expr(depth - 1);
        return add(Expr::pair(ExprKind::Negate, a.value, 0));
      }
      case 3: {
        std::vector<ExprId> children = {expr(depth - 1), expr(depth - 1)};
        return add(Expr::list(ExprKind::Tuple, store(children)));
      }
      default: {
        const ExprId a = expr(depth - 1);
        const ExprId b = expr(depth - 1);
        return add(Expr::pair(ExprKind::Binary, a.value, b.value, no_loc, static_cast<BinaryOp>(pick(12))));
      }
    }
  }

  ExprId value(int depth = 3) {
    switch (depth == 0 ? 9 : pick(10)) {
      case 0: return add(Expr::text(ExprKind::String, bytes()));
      case 1: return add(Expr::text(ExprKind::Symbol, value_name()));
      case 2: {
        std::vector<ExprId> children;
        const std::size_t n = pick(rarely() ? 40 : 4);
        for (std::size_t i = 0; i < n; ++i) children.push_back(value(depth - 1));
        return add(Expr::list(ExprKind::List, store(children)));
      }
      case 3: {
        std::vector<ExprId> children;
        const std::size_t n = pick(4);
        for (std::size_t i = 0; i < n; ++i) {
          children.push_back(add(Expr::text(ExprKind::Name, m_.strings.intern("field" + std::to_string(i)))));
          children.push_back(value(depth - 1));
        }
        return add(Expr::list(ExprKind::Record, store(children)));
      }
      case 4: {
        std::vector<ExprId> children;
        const std::size_t n = pick(4);
        for (std::size_t i = 0; i < n; ++i)
          children.push_back(add(Expr::text(ExprKind::Name, m_.strings.intern("a" + std::to_string(i)))));
        children.push_back(expr());
        return add(Expr::list(ExprKind::Lambda, store(children)));
      }
      case 5: {
        const ExprId a = expr(2);
        const ExprId b = expr(2);
        return add(Expr::pair(maybe() ? ExprKind::Arrow : ExprKind::Span, a.value, b.value));
      }
      case 6: return add(Expr::text(ExprKind::Name, callable()));  // a dtype stands alone
      default: return expr();
    }
  }

  // ---- types, views, attributes ----

  TypeId type(bool device_only = false) {
    TypeExpr type;
    type.space = device_only ? Space::Device : static_cast<Space>(pick(3));
    type.dtype = static_cast<Dtype>(pick(dtype_count));
    std::vector<ExprId> dims;
    const std::size_t n = pick(4);
    for (std::size_t i = 0; i < n; ++i) dims.push_back(expr(2));
    type.dims = store(dims);
    return m_.types.add(type);
  }

  Index index() {
    Index index;
    index.kind = static_cast<Index::Kind>(pick(3));
    if (index.kind == Index::Kind::At || maybe()) index.begin = expr(2);
    if (index.kind == Index::Kind::Sized || (index.kind == Index::Kind::Slice && maybe())) index.end = expr(2);
    return index;
  }

  ViewRef view() {
    ViewRef view;
    view.value = value_name();
    std::vector<Index> indices;
    while (pick(3) == 0) indices.push_back(index());
    const std::size_t first = m_.indices.size();
    for (const Index& i : indices) m_.indices.add(i);
    view.indices = m_.indices.range_from(first);
    if (rarely()) view.as = type();
    return view;
  }

  IdRange<ViewRef> views(Arity arity) {
    const std::size_t most = arity.max == Arity::many ? arity.min + 4u : arity.max;
    const std::size_t n = arity.min + pick(most - arity.min + 1);
    std::vector<ViewRef> made;
    for (std::size_t i = 0; i < n; ++i) made.push_back(view());
    const std::size_t first = m_.views.size();
    for (const ViewRef& v : made) m_.views.add(v);
    return m_.views.range_from(first);
  }

  IdRange<Attr> attributes(const OpEntry& entry) {
    std::vector<Attr> attrs;
    for (const FieldInfo& field : entry.fields)
      if (field.required || maybe()) attrs.push_back({m_.strings.intern(field.name), value()});
    for (const FieldInfo& field : common_fields())
      if (rarely()) attrs.push_back({m_.strings.intern(field.name), value()});
    for (std::size_t i = attrs.size(); i > 1; --i) std::swap(attrs[i - 1], attrs[pick(i)]);
    const std::size_t first = m_.attrs.size();
    for (const Attr& attr : attrs) m_.attrs.add(attr);
    return m_.attrs.range_from(first);
  }

  // ---- statements ----

  Region region(int depth) {
    open_.open();
    while (left_ > 0 && pick(5) != 0) {
      --left_;
      statement(depth);
    }
    const bool empty = open_.size() == 0;
    Region region = open_.close(m_);
    region.comments = comments(false, !empty);
    return region;
  }

  void statement(int depth) {
    const OpEntry* entry = nullptr;
    do entry = &op_table()[pick(op_table().size())];
    while (depth == 0 && entry->info.regions.min > 0);
    const OpInfo& info = entry->info;
    Op op;
    op.kind = *op_named(info.name);
    const bool first = open_.size() == 0;
    op.comments = comments(true, !first);
    const bool leads = !op.comments.empty() && !m_.comments[op.comments[0]].trailing;
    op.blank_before = (!first || leads) && rarely();
    if (info.result != ResultKind::None) op.result = value_name();
    if (info.result == ResultKind::Token && maybe()) op.result_index = expr(2);
    if (info.callee) op.callee = value_name();
    if (info.type) op.type = type();
    op.operands = views(info.operands);
    op.results = views(info.results);
    op.attrs = attributes(*entry);
    const std::size_t kept = open_.kept();
    const RegionShape& shape = info.regions;
    const std::size_t most = shape.max == Arity::many ? 3 : shape.max;
    const std::size_t n = shape.min + pick(most - shape.min + 1);
    for (std::size_t i = 0; i < n; ++i) {
      Region inner = region(depth - 1);
      const std::string_view label = shape.labels[shape.max == Arity::many ? 0 : i];
      if (!label.empty()) inner.label = m_.strings.intern(label);
      open_.keep(inner);
    }
    op.regions = open_.take_kept(m_, kept);
    open_.add(op);
  }

  // ---- declarations ----

  void item() {
    Item item;
    item.kind = static_cast<Item::Kind>(pick(5));
    item.blank_before = maybe();
    item.comments = comments(true, true);
    switch (item.kind) {
      case Item::Kind::Mesh:
        item.first = static_cast<std::uint32_t>(m_.mesh.size());
        item.count = static_cast<std::uint32_t>(1 + pick(3));
        for (std::uint32_t i = 0; i < item.count; ++i)
          m_.mesh.push_back({fresh("axis"), static_cast<std::int64_t>(1 + pick(8))});
        break;
      case Item::Kind::Param:
        item.first = static_cast<std::uint32_t>(m_.params.size());
        m_.params.push_back({fresh("param"), expr(), maybe() ? value() : ExprId{}});
        break;
      case Item::Kind::Source:
        item.first = static_cast<std::uint32_t>(m_.sources.size());
        m_.sources.push_back({fresh("source"), m_.strings.intern(maybe() ? "ptx" : "cuda"), bytes()});
        break;
      case Item::Kind::Function: {
        Function function;
        function.name = fresh("f");
        std::vector<Formal> formals;
        while (maybe()) {
          Formal formal;
          formal.name = fresh("");
          formal.direction = static_cast<Direction>(pick(3));
          formal.type = type();
          if (rarely()) {
            const ExprId uniform = value();
            const std::size_t first = m_.attrs.size();
            m_.attrs.add({m_.strings.intern("uniform"), uniform});
            formal.attrs = m_.attrs.range_from(first);
          }
          formals.push_back(formal);
        }
        const std::size_t first = m_.formals.size();
        for (const Formal& formal : formals) m_.formals.add(formal);
        function.formals = m_.formals.range_from(first);
        const Region body = region(4);
        function.body = m_.regions.add(body);
        item.first = m_.functions.add(function).value;
        break;
      }
      case Item::Kind::Entry:
        item.first = static_cast<std::uint32_t>(m_.entries.size());
        m_.entries.push_back({value_name(), maybe() ? value() : ExprId{}});
        break;
    }
    m_.items.push_back(item);
  }

  std::mt19937_64 random_;
  std::size_t left_;
  std::size_t fresh_ = 0;
  Module m_;
  RegionStack open_;
};

}  // namespace stave
