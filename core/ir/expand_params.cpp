// Mesh, params and entries: what stands at the top of a file.
#include <charconv>
#include <cmath>
#include <optional>

#include "core/ir/expand_prepare.h"

namespace stave {
namespace {

// Ranks are 32-bit and every rank has a place in tables; a million is far above any machine.
constexpr std::int64_t max_ranks = std::int64_t{1} << 20;

template <class T>
std::optional<T> number_in(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool is_word(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return true;
}

std::optional<Value> plain_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.starts_with("0x")) {
    std::int64_t v = 0;
    const auto [end, error] = std::from_chars(digits.data() + 2, digits.data() + digits.size(), v, 16);
    if (digits.size() == 2 || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return Value::of(negative ? -v : v);
  }
  if (const auto v = number_in<std::int64_t>(text)) return Value::of(*v);
  if (const auto v = number_in<double>(text); v && std::isfinite(*v)) return Value::of_number(*v);
  return std::nullopt;
}

// "8", "-1", "0x10", "1.5", "true", "bf16", "communication 1". Words keep pointing into `text`.
std::optional<Value> value_of_text(std::string_view text) {
  if (const auto v = plain_number(text)) return v;
  if (text == "true" || text == "false") return Value::of_boolean(text == "true");
  if (is_word(text)) return Value::of_word(text);
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos || !is_word(text.substr(0, space))) return std::nullopt;
  auto v = plain_number(text.substr(space + 1));
  if (!v) return std::nullopt;
  v->whole = v->kind == Value::Kind::Integer;
  v->kind = Value::Kind::Typed;
  v->word = text.substr(0, space);
  return v;
}

// `given`: on the command line, not by its declaration.
Result<void> check_allowed(Evaluation& names, const ParamDecl& p, const Value& value, bool given) {
  const Expr e = names.expr(p.allowed);
  const std::string_view declared = names.module().text(p.name);
  const std::string name = given ? fmt::format("--param {}={}: `{}`", declared, to_text(value), declared)
                                 : fmt::format("param `{}`", declared);
  if (e.kind == ExprKind::Span) {
    TRY(const std::int64_t low, names.integer(e.a()));
    TRY(const std::int64_t high, names.integer(e.b()));
    if (value.is_plain_integer() && value.integer.constant >= low && value.integer.constant <= high) return {};
    return names.fail(p.loc, "STV0204", "{} must be an integer in {}..{}, got {}", name, low, high, to_text(value));
  }
  if (e.kind != ExprKind::List)
    return names.fail(e.loc, "STV0205", "after `in` stands a list or a span, such as [1, 2, 4] or 1..8");
  std::string all;
  for (const ExprId part : names.children(e)) {
    TRY(const Value one, names.value(part));
    if (same_value(one, value)) return {};
    all += fmt::format("{}{}", all.empty() ? "" : ", ", to_text(one));
  }
  return names.fail(p.loc, "STV0204", "{} must be one of [{}], got {}", name, all, to_text(value));
}

}  // namespace

Result<Mesh> mesh_of(const Module& module) {
  Mesh mesh;
  if (module.mesh.size() > max_mesh_axes)
    return error_at(module.place(module.mesh[max_mesh_axes].loc), "STV0200", "a mesh has at most {} axes, got {}",
                    max_mesh_axes, module.mesh.size());
  std::int64_t ranks = 1;
  for (const MeshAxis& axis : module.mesh) {
    if (axis.size < 1)
      return error_at(module.place(axis.loc), "STV0200", "mesh axis `{}` must have at least 1 rank, got {}",
                      module.text(axis.name), axis.size);
    if (axis.size > max_ranks / ranks)
      return error_at(module.place(axis.loc), "STV0200", "a mesh has at most {} ranks; axis `{}` of {} makes it larger",
                      max_ranks, module.text(axis.name), axis.size);
    ranks *= axis.size;
    mesh.axes.emplace_back(module.text(axis.name));
    mesh.sizes.push_back(axis.size);
  }
  return mesh;
}

Result<void> set_params(Evaluation& names, const std::vector<std::pair<std::string, std::string>>& overrides) {
  const Module& m = names.module();
  for (const auto& [name, text] : overrides) {
    bool known = false;
    std::string all;
    for (const ParamDecl& p : m.params) {
      known = known || m.text(p.name) == name;
      all += fmt::format("{}{}", all.empty() ? "" : ", ", m.text(p.name));
    }
    if (!known)
      return error_at({.file = m.file}, "STV0202", "unknown param `{}`; the schedule has {}", name,
                      all.empty() ? "none" : all);
    if (!value_of_text(text))
      return error_at({.file = m.file}, "STV0203", "`{}` is no value for param `{}`: expected such as 8, 1.5, bf16",
                      text, name);
  }
  for (const ParamDecl& p : m.params) {
    std::optional<Value> value;
    for (const auto& [name, text] : overrides)
      if (m.text(p.name) == name) value = value_of_text(text);
    const bool given = value.has_value();
    if (!given) {
      TRY(value, names.value(p.value));
      if (value->kind == Value::Kind::Integer && value->integer.varying)
        return names.fail(p.loc, "STV0241",
                          "param `{}` must be the same on all ranks, so axis_index may not stand in it",
                          m.text(p.name));
    }
    if (p.allowed) TRY_VOID(check_allowed(names, p, *value, given));
    names.set_param(p.name, *value);
  }
  return {};
}

namespace {

Result<std::vector<Rank>> ranks_in(Evaluation& names, const EntryDecl& entry, std::int64_t ranks) {
  std::vector<Rank> out;
  const auto add = [&](ExprId where, std::int64_t rank) -> Result<void> {
    if (rank < 0 || rank >= ranks)
      return names.fail(names.expr(where).loc, "STV0211", "rank {} is not in the mesh, which has ranks 0..{}", rank,
                        ranks - 1);
    out.push_back(static_cast<Rank>(rank));
    return {};
  };
  const auto add_part = [&](ExprId id) -> Result<void> {
    const Expr e = names.expr(id);
    if (e.kind != ExprKind::Span) {
      TRY(const std::int64_t rank, names.integer(id));
      return add(id, rank);
    }
    TRY(const std::int64_t low, names.integer(e.a()));
    TRY(const std::int64_t high, names.integer(e.b()));
    for (std::int64_t rank = low; rank <= high; ++rank) TRY_VOID(add(id, rank));
    return {};
  };
  if (names.expr(entry.ranks).kind != ExprKind::List) {
    TRY_VOID(add_part(entry.ranks));
  } else {
    for (const ExprId part : names.children(names.expr(entry.ranks))) TRY_VOID(add_part(part));
  }
  return out;
}

}  // namespace

Result<std::vector<EntryRanks>> entries_of(Evaluation& names, const Prepared& prepared) {
  const Module& m = names.module();
  const std::int64_t ranks = names.mesh().ranks();
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = static_cast<Rank>(r);
  if (m.functions.empty()) return error_at({.file = m.file}, "STV0208", "the schedule has no function to run");
  std::vector<EntryRanks> out;
  if (m.entries.empty()) {
    out.push_back({FunctionId{m.functions.size() - 1}, std::move(all)});
    return out;
  }
  std::vector<std::uint32_t> entry_of_rank(all.size(), 0xffffffff);
  for (std::size_t i = 0; i < m.entries.size(); ++i) {
    const EntryDecl& entry = m.entries[i];
    const FunctionId function = prepared.functions[entry.function.value];
    if (!function) return names.fail(entry.loc, "STV0209", "the entry @{} is no function", m.text(entry.function));
    if (entry.ranks) {
      TRY(const std::vector<Rank> listed, ranks_in(names, entry, ranks));
      for (const Rank rank : listed) {
        if (entry_of_rank[rank] != 0xffffffff) {
          Failure twice =
              names.fail(entry.loc, "STV0210", "entries cover each rank once; rank {} is covered twice", rank);
          twice.problems[0].notes.push_back({"also here", m.place(m.entries[entry_of_rank[rank]].loc)});
          return twice;
        }
        entry_of_rank[rank] = static_cast<std::uint32_t>(i);
      }
    } else {
      if (m.entries.size() > 1)
        return names.fail(entry.loc, "STV0210",
                          "entries cover each rank once; of several entries each names its ranks");
      entry_of_rank.assign(all.size(), 0);
    }
    out.push_back({function, {}});
  }
  for (std::size_t r = 0; r < entry_of_rank.size(); ++r) {
    if (entry_of_rank[r] == 0xffffffff)
      return names.fail(m.entries.back().loc, "STV0210", "entries cover each rank once; rank {} has none", r);
    out[entry_of_rank[r]].ranks.push_back(static_cast<Rank>(r));
  }
  std::erase_if(out, [](const EntryRanks& e) { return e.ranks.empty(); });
  return out;
}

}  // namespace stave
