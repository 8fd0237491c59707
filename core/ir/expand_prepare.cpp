#include "core/ir/expand_prepare.h"

#include <array>
#include <unordered_map>

namespace stave {
namespace {

class Preparation {
 public:
  explicit Preparation(const Module& module) : m_(module) {}

  Result<Prepared> run() {
    out_.functions.resize(m_.strings.size());
    is_index_.resize(m_.strings.size());
    ordinals_.resize(m_.ops.size());
    TRY_VOID(declarations());
    for (const FunctionId id : m_.functions.all()) {
      const Function& f = m_.functions[id];
      FunctionId& named = out_.functions[f.name.value];
      if (named) return twice(f.loc, "function", f.name, m_.functions[named].loc);
      named = id;
    }
    for (const Op& op : m_.ops)
      if (op.kind == kind_of<Repeat>)
        if (const ExprId index = m_.attr(op, "index"); index && m_.exprs[index].kind == ExprKind::Name)
          is_index_[m_.exprs[index].string().value] = true;
    out_.varies.resize(m_.ops.size());
    for (const FunctionId id : m_.functions.all()) TRY_VOID(function(id));
    TRY_VOID(acyclic());
    out_.ordinals = std::make_shared<const std::vector<std::uint32_t>>(std::move(ordinals_));
    return std::move(out_);
  }

 private:
  template <class... Args>
  Failure fail(Loc loc, std::string_view code, fmt::format_string<Args...> format, Args&&... args) const {
    return error_at(m_.place(loc), code, format, std::forward<Args>(args)...);
  }
  Failure twice(Loc loc, std::string_view what, StringId name, Loc first) const {
    Failure out = fail(loc, "STV0201", "the {} `{}` is declared twice", what, m_.text(name));
    out.problems[0].notes.push_back({"first here", m_.place(first)});
    return out;
  }

  // Axes and params share one namespace; sources and functions have their own.
  Result<void> declarations() {
    std::unordered_map<StringId, Loc> names, sources;
    for (const MeshAxis& a : m_.mesh)
      if (const auto [at, added] = names.try_emplace(a.name, a.loc); !added)
        return twice(a.loc, "name", a.name, at->second);
    for (const ParamDecl& p : m_.params)
      if (const auto [at, added] = names.try_emplace(p.name, p.loc); !added)
        return twice(p.loc, "name", p.name, at->second);
    for (const SourceDecl& s : m_.sources) {
      if (const auto [at, added] = sources.try_emplace(s.name, s.loc); !added)
        return twice(s.loc, "source", s.name, at->second);
      const std::string_view language = m_.text(s.language);
      if (language != "ptx" && language != "cuda" && language != "cubin")
        return fail(s.loc, "STV0207", "unknown source language `{}`; there are ptx, cuda, cubin", language);
    }
    taken_ = std::move(names);
    return {};
  }

  Result<void> function(FunctionId id) {
    const Function& f = m_.functions[id];
    counts_.fill(0);
    names_.clear();
    top_ = true;
    return region(f.body, 0);
  }

  Result<void> region(RegionId id, int depth) {
    const Region& region = m_.regions[id];
    if (depth >= max_expand_nesting)
      return fail(region.loc, "STV0219", "regions are nested more than {} deep", max_expand_nesting);
    for (const OpId op : region.ops) TRY_VOID(statement(op, depth));
    return {};
  }

  Result<void> statement(OpId id, int depth) {
    const Op& op = m_.ops[id];
    const OpInfo& info = info_of(op.kind);
    ordinals_[id.value] = ++counts_[static_cast<std::size_t>(op.kind)];
    TRY_VOID(form(op, info));
    TRY_VOID(attributes(id, op));
    const bool allocates = op.kind == kind_of<Scratch> || op.kind == kind_of<Constant>;
    if (allocates && (depth > 0 || !top_))
      return fail(op.loc, "STV0218",
                  "{} stands at the top of a function, before all that runs: it is one allocation for each call",
                  info.name);
    if (!allocates && op.kind != kind_of<ViewOp>) top_ = false;
    const Loc* outer = nullptr;
    StringId index;
    if (op.kind == kind_of<Repeat>) {
      const ExprId e = m_.attr(op, "index");
      if (e && m_.exprs[e].kind == ExprKind::Name) {
        index = m_.exprs[e].string();
        const auto [at, added] = taken_.try_emplace(index, m_.exprs[e].loc);
        if (!added) outer = &at->second;
      }
    }
    if (outer) {
      Failure out = fail(op.loc, "STV0201", "the index `{}` hides an axis, a param or an outer index of that name",
                         m_.text(index));
      out.problems[0].notes.push_back({"that one", m_.place(*outer)});
      return out;
    }
    for (const RegionId r : op.regions) TRY_VOID(region(r, depth + 1));
    if (index) taken_.erase(index);
    return {};
  }

  static std::string arity_text(Arity a) {
    if (a.max == Arity::many) return a.min == 0 ? "any number" : fmt::format("at least {}", a.min);
    return a.min == a.max ? fmt::format("{}", a.min) : fmt::format("{} to {}", a.min, a.max);
  }
  static bool within(std::size_t n, Arity a) { return n >= a.min && (a.max == Arity::many || n <= a.max); }

  Result<void> form(const Op& op, const OpInfo& info) const {
    if (!within(op.operands.size(), info.operands))
      return fail(op.loc, "STV0214", "{} takes {} value(s) left of the arrow, got {}", info.name,
                  arity_text(info.operands), op.operands.size());
    if (!within(op.results.size(), info.results))
      return fail(op.loc, "STV0214", "{} takes {} value(s) right of the arrow, got {}", info.name,
                  arity_text(info.results), op.results.size());
    const Arity regions{info.regions.min, info.regions.max};
    if (!within(op.regions.size(), regions))
      return fail(op.loc, "STV0214", "{} takes {} region(s), got {}", info.name, arity_text(regions),
                  op.regions.size());
    if (static_cast<bool>(op.result) != (info.result != ResultKind::None))
      return fail(op.loc, "STV0214", "{} {}", info.name,
                  op.result ? "defines no value" : "defines a value: write `%name = ` before it");
    if (op.result_index && info.result != ResultKind::Token)
      return fail(op.loc, "STV0214", "only tokens have an index: `%t[s] = async_start`");
    if (static_cast<bool>(op.callee) != info.callee || static_cast<bool>(op.type) != info.type)
      return fail(op.loc, "STV0214", "{} is written as: {}", info.name, info.example);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const std::string_view expected = info.regions.labels[info.regions.max == Arity::many ? 0 : i];
      const StringId label = m_.regions[op.regions[i]].label;
      const std::string_view got = label ? m_.text(label) : std::string_view();
      if (got != expected)
        return fail(m_.regions[op.regions[i]].loc, "STV0214", "region {} of {} is called `{}`, got `{}`", i + 1,
                    info.name, expected, got);
    }
    return {};
  }

  Result<void> attributes(OpId id, const Op& op) {
    for (std::size_t i = 0; i < op.attrs.size(); ++i) {
      const Attr& attr = m_.attrs[op.attrs[i]];
      for (std::size_t j = 0; j < i; ++j)
        if (m_.attrs[op.attrs[j]].name == attr.name)
          return fail(attr.loc, "STV0216", "`{}` is given twice", m_.text(attr.name));
      if (m_.text(attr.name) == "name") TRY_VOID(command_name(attr));
      if (mentions_index(attr.value, 0)) out_.varies[id.value] = true;
    }
    return {};
  }

  // Names are elements of paths (rule 18).
  Result<void> command_name(const Attr& attr) {
    const Expr& e = m_.exprs[attr.value];
    if (e.kind != ExprKind::String) return fail(attr.loc, "STV0245", "expected a string, got {}", kind_text(e.kind));
    const std::string_view text = m_.text(e.string());
    if (text.empty() || text.find_first_of("/[]#\n") != std::string_view::npos)
      return fail(attr.loc, "STV0213",
                  "a name is a part of a path: not empty, without / [ ] # and newlines; got \"{}\"", text);
    const auto [at, added] = names_.try_emplace(e.string(), attr.loc);
    if (added) return {};
    Failure out = fail(attr.loc, "STV0212", "the name \"{}\" stands twice in this function", text);
    out.problems[0].notes.push_back({"first here", m_.place(at->second)});
    return out;
  }

  bool mentions_index(ExprId id, int depth) const {
    if (!id || depth > max_expand_nesting) return false;
    const Expr& e = m_.exprs[id];
    switch (e.kind) {
      case ExprKind::Name: return is_index_[e.string().value];
      case ExprKind::Typed: return mentions_index(e.b(), depth + 1);
      case ExprKind::Negate: return mentions_index(e.a(), depth + 1);
      case ExprKind::Binary:
      case ExprKind::Arrow:
      case ExprKind::Span: return mentions_index(e.a(), depth + 1) || mentions_index(e.b(), depth + 1);
      case ExprKind::Apply:
      case ExprKind::Tuple:
      case ExprKind::List:
      case ExprKind::Record:
      case ExprKind::Lambda:
        for (std::size_t i = 0; i < e.children().count; ++i)
          if (mentions_index(m_.expr_lists[Id<struct ExprListTag>{e.children().first + i}], depth + 1)) return true;
        return false;
      default: return false;
    }
  }

  // The function that a statement runs: that of a call, or a kernel's meaning on a CPU.
  StringId callee_of(const Op& op) const {
    if (op.kind == kind_of<Call>) return op.callee;
    if (op.kind != kind_of<Kernel>) return {};
    const ExprId reference = m_.attr(op, "reference");
    return reference && m_.exprs[reference].kind == ExprKind::Symbol ? m_.exprs[reference].string() : StringId{};
  }

  void collect_calls(RegionId id, std::vector<OpId>& calls) const {
    for (const OpId op : m_.regions[id].ops) {
      if (callee_of(m_.ops[op])) calls.push_back(op);
      for (const RegionId r : m_.ops[op].regions) collect_calls(r, calls);
    }
  }

  // Depth-first over the call graph, without recursion: chains may be long.
  Result<void> acyclic() {
    enum class State : std::uint8_t { New, Open, Done };
    std::vector<State> state(m_.functions.size());
    struct Level {
      FunctionId function;
      std::vector<OpId> calls;
      std::size_t next = 0;
    };
    for (const FunctionId root : m_.functions.all()) {
      if (state[root.value] != State::New) continue;
      std::vector<Level> stack;
      const auto open = [&](FunctionId f) {
        state[f.value] = State::Open;
        stack.push_back({f, {}, 0});
        collect_calls(m_.functions[f].body, stack.back().calls);
      };
      open(root);
      while (!stack.empty()) {
        Level& top = stack.back();
        if (top.next == top.calls.size()) {
          state[top.function.value] = State::Done;
          stack.pop_back();
          continue;
        }
        const Op& call = m_.ops[top.calls[top.next++]];
        const FunctionId callee = out_.functions[callee_of(call).value];
        if (!callee && call.kind != kind_of<Call>) continue;  // verify names an unknown reference
        if (!callee) return fail(call.loc, "STV0221", "call of an unknown function @{}", m_.text(call.callee));
        if (state[callee.value] == State::Open) {
          Failure out =
              fail(call.loc, "STV0220", "calls must not be cyclic: @{} calls itself", m_.text(callee_of(call)));
          for (std::size_t i = stack.size(); i-- > 1 && stack[i].function != callee;) {
            const Op& via = m_.ops[stack[i - 1].calls[stack[i - 1].next - 1]];
            out.problems[0].notes.push_back(
                {fmt::format("through the call of @{}", m_.text(callee_of(via))), m_.place(via.loc)});
          }
          return out;
        }
        if (state[callee.value] == State::New) open(callee);
      }
    }
    return {};
  }

  const Module& m_;
  Prepared out_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<bool> is_index_;
  std::unordered_map<StringId, Loc> taken_;  // axes, params, indices around
  std::unordered_map<StringId, Loc> names_;  // of commands of this function
  std::array<std::uint32_t, OpTypes::size> counts_{};
  bool top_ = true;
};

}  // namespace

Result<Prepared> prepare(const Module& module) { return Preparation(module).run(); }

}  // namespace stave
