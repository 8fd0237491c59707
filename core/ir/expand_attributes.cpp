#include "core/ir/expand_attributes.h"

#include <limits>

#include "core/ir/expand_lambda.h"

namespace stave {

// Streams are made by number; a few dozen are useful, CUDA runs 128 at a time.
constexpr std::int64_t max_streams = 1024;

Failure Attributes::unknown(const Attr& attr, std::string_view op, std::string_view known) const {
  return names_->fail(attr.loc, "STV0215", "{} has no attribute `{}`; it has {}", op, names_->module().text(attr.name),
                      known);
}

Result<std::span<const ExprId>> Attributes::list(ExprId id, std::string_view what) const {
  const Expr& e = names_->expr(id);
  if (e.kind != ExprKind::List && e.kind != ExprKind::Tuple) return names_->expected(id, what);
  return names_->children(e);
}

Result<Ints> Attributes::integers(ExprId id, std::string_view what) {
  TRY(const auto parts, list(id, what));
  Ints out;
  for (const ExprId part : parts) {
    TRY(const std::int64_t v, names_->integer(part));
    out.push_back(v);
  }
  return out;
}

Result<std::uint32_t> Attributes::position(ExprId id, std::string_view what) {
  TRY(const std::int64_t v, names_->integer(id));
  if (v < 0 || v > std::numeric_limits<std::int32_t>::max())
    return names_->fail(names_->expr(id).loc, "STV0249", "{} is a position from 0, got {}", what, v);
  return static_cast<std::uint32_t>(v);
}

Result<std::vector<std::uint32_t>> Attributes::positions(ExprId id, std::string_view what) {
  TRY(const auto parts, list(id, what));
  std::vector<std::uint32_t> out;
  for (const ExprId part : parts) {
    TRY(const std::uint32_t v, position(part, what));
    out.push_back(v);
  }
  return out;
}

template <class Enum>
Result<void> Attributes::enumerator(ExprId id, Enum& out, Enum last, std::string_view what) {
  TRY(const Value v, names_->value(id));
  std::string known;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view name = name_of(static_cast<Enum>(i));
    if (v.kind == Value::Kind::Word && v.word == name) {
      out = static_cast<Enum>(i);
      return {};
    }
    known += fmt::format("{}{}", i == 0 ? "" : ", ", name);
  }
  return names_->fail(names_->expr(id).loc, "STV0250", "unknown {} `{}`; there are {}", what, to_text(v), known);
}

Result<void> Attributes::evaluate(ExprId id, bool& out) {
  TRY(out, names_->boolean(id));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, std::int64_t& out) {
  TRY(out, names_->integer(id));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, std::int32_t& out) {
  TRY(const std::int64_t v, names_->integer(id));
  if (v < std::numeric_limits<std::int32_t>::min() || v > std::numeric_limits<std::int32_t>::max())
    return names_->fail(names_->expr(id).loc, "STV0246", "{} does not fit 32 bits", v);
  out = static_cast<std::int32_t>(v);
  return {};
}

Result<void> Attributes::evaluate(ExprId id, double& out) {
  TRY(out, names_->number(id));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, StringId& out) {
  if (names_->expr(id).kind != ExprKind::String) return names_->expected(id, "a string");
  out = names_->expr(id).string();
  return {};
}

Result<void> Attributes::evaluate(ExprId id, SymbolRef& out) {
  if (names_->expr(id).kind != ExprKind::Symbol) return names_->expected(id, "a symbol, such as @f");
  out.name = names_->expr(id).string();
  return {};
}

Result<void> Attributes::evaluate(ExprId id, NameRef& out) {
  if (names_->expr(id).kind != ExprKind::Name) return names_->expected(id, "a name");
  out.name = names_->expr(id).string();
  return {};
}

Result<void> Attributes::evaluate(ExprId id, Scalar& out) {
  TRY(const Value v, names_->typed(id, "a number with its dtype, such as `f32 1.0`"));
  const auto dtype = dtype_named(v.word);
  if (!dtype) return names_->expected(id, "a number with its dtype, such as `f32 1.0`", v);
  TRY(out, names_->scalar_of(v, *dtype, names_->expr(id).loc));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, StreamRef& out) {
  // `computation -1` and `computation + s` read as sums.
  if (const Expr e = names_->expr(id); e.kind == ExprKind::Binary && names_->expr(e.a()).kind == ExprKind::Name) {
    const std::string_view kind = names_->module().text(names_->expr(e.a()).string());
    if (kind == "computation" || kind == "communication")
      return names_->fail(e.loc, "STV0251",
                          "a stream's number is from 0 to {} and stands behind its kind: `{} 1`, or `{}(s - 1)` where "
                          "it is computed",
                          max_streams - 1, kind, kind);
  }
  TRY(const Value v, names_->typed(id, "a stream: `computation N` or `communication N`"));
  if (v.word == "computation" || v.word == "communication") {
    if (v.whole && v.integer.constant >= 0 && v.integer.constant < max_streams) {
      out.kind = v.word == "computation" ? StreamRef::Kind::Computation : StreamRef::Kind::Communication;
      out.number = static_cast<std::uint32_t>(v.integer.constant);
      return {};
    }
    return names_->fail(names_->expr(id).loc, "STV0251", "streams have numbers from 0 to {}, got {}", max_streams - 1,
                        to_text(v));
  }
  return names_->expected(id, "a stream: `computation N` or `communication N`", v);
}

Result<void> Attributes::evaluate(ExprId id, Reduction& out) {
  return enumerator(id, out, Reduction::Max, "reduction");
}
Result<void> Attributes::evaluate(ExprId id, Epilogue& out) { return enumerator(id, out, Epilogue::Bias, "epilogue"); }
Result<void> Attributes::evaluate(ExprId id, Algorithm& out) {
  return enumerator(id, out, Algorithm::CopyEngine, "algorithm");
}

Result<void> Attributes::evaluate(ExprId id, Dim3& out) {
  TRY(const auto parts, list(id, "a list of one to three integers"));
  if (parts.empty() || parts.size() > 3)
    return names_->fail(names_->expr(id).loc, "STV0252", "expected one to three integers, got {}", parts.size());
  std::int32_t* const members[] = {&out.x, &out.y, &out.z};
  for (std::size_t i = 0; i < parts.size(); ++i) TRY_VOID(evaluate(parts[i], *members[i]));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, CoordInt& out) {
  TRY(out, names_->coord_integer(id));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, Axes& out) {
  out.clear();
  if (names_->expr(id).kind == ExprKind::Name) {
    TRY(const std::uint32_t a, names_->axis(id));
    out.push_back(a);
    return {};
  }
  TRY(const auto parts, list(id, "a mesh axis or a list of them"));
  for (const ExprId part : parts) {
    TRY(const std::uint32_t a, names_->axis(part));
    out.push_back(a);
  }
  return {};
}

Result<void> Attributes::evaluate(ExprId id, AxesId& out) {
  Axes axes;
  TRY_VOID(evaluate(id, axes));
  const auto [at, added] = axes_.try_emplace(axes, out_->axes.next_id());
  if (added) out_->axes.add(std::move(axes));
  out = at->second;
  return {};
}

Result<void> Attributes::evaluate(ExprId id, GroupsId& out) {
  TRY(const auto parts, list(id, "a list of groups, such as [[0, 1], [2, 3]]"));
  Groups groups;
  for (const ExprId part : parts) {
    TRY(auto group, positions(part, "a member of a group"));
    groups.push_back(std::move(group));
  }
  if (groups.empty()) return names_->fail(names_->expr(id).loc, "STV0253", "groups must not be an empty list");
  const auto [at, added] = groups_.try_emplace(groups, out_->groups.next_id());
  if (added) out_->groups.add(std::move(groups));
  out = at->second;
  return {};
}

Result<void> Attributes::evaluate(ExprId id, PairsId& out) {
  TRY(const auto parts, list(id, "a list of pairs, such as [0 -> 1, 1 -> 0]"));
  Pairs pairs;
  for (const ExprId part : parts) {
    const Expr e = names_->expr(part);
    if (e.kind != ExprKind::Arrow) return names_->expected(part, "a pair, such as 0 -> 1");
    TRY(const std::uint32_t from, position(e.a(), "the source of a pair"));
    TRY(const std::uint32_t to, position(e.b(), "the target of a pair"));
    pairs.emplace_back(from, to);
  }
  out = out_->pairs.add(std::move(pairs));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, LambdaId& out) {
  TRY(Lambda lambda, compile_lambda(*names_, id, operand_dtypes, otherwise_dtype));
  out = out_->lambdas.add(std::move(lambda));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, ArgsId& out) {
  constexpr std::string_view what = "an argument: `in N`, `out N`, `tensor_map N` or a number with its dtype";
  TRY(const auto parts, list(id, "a list of kernel arguments, such as [in 0, out 0, s32 4]"));
  std::vector<KernelArg> args;
  for (const ExprId part : parts) {
    TRY(const Value v, names_->typed(part, what));
    KernelArg arg;
    if (const auto dtype = dtype_named(v.word)) {
      arg.kind = KernelArg::Kind::Value;
      TRY(arg.value, names_->scalar_of(v, *dtype, names_->expr(part).loc));
    } else {
      if (!v.whole || v.word == "computation" || v.word == "communication") return names_->expected(part, what, v);
      arg.kind = v.word == "in"    ? KernelArg::Kind::In
                 : v.word == "out" ? KernelArg::Kind::Out
                                   : KernelArg::Kind::TensorMap;
      if (v.integer.constant < 0 || v.integer.constant > std::numeric_limits<std::int32_t>::max())
        return names_->fail(names_->expr(part).loc, "STV0249", "an argument is a position from 0, got {}",
                            v.integer.constant);
      arg.index = static_cast<std::uint32_t>(v.integer.constant);
    }
    args.push_back(arg);
  }
  out = out_->args.add(std::move(args));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, RecordId& out) {
  const Expr e = names_->expr(id);
  if (e.kind != ExprKind::Record) return names_->expected(id, "a record, such as {lower = false}");
  const auto parts = names_->children(e);
  Record record;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    RecordField field;
    field.name = names_->expr(parts[i]).string();
    for (const RecordField& other : record)
      if (other.name == field.name)
        return names_->fail(names_->expr(parts[i]).loc, "STV0216", "`{}` is given twice",
                            names_->module().text(field.name));
    const Expr value = names_->expr(parts[i + 1]);
    if (value.kind == ExprKind::String) {
      field.value = value.string();
    } else if (value.kind == ExprKind::List) {
      TRY(Ints ints, integers(parts[i + 1], "a list of integers"));
      field.value = std::move(ints);
    } else {
      TRY(const Value v, names_->value(parts[i + 1]));
      if (v.kind == Value::Kind::Boolean) {
        field.value = v.boolean;
      } else if (v.is_plain_integer()) {
        field.value = v.integer.constant;
      } else if (v.kind == Value::Kind::Number) {
        field.value = v.number;
      } else {
        Scalar scalar;
        TRY_VOID(evaluate(parts[i + 1], scalar));
        field.value = scalar;
      }
    }
    record.push_back(std::move(field));
  }
  out = out_->records.add(std::move(record));
  return {};
}

Result<void> Attributes::literals(ExprId id, Literals& out, int depth) {
  const Expr e = names_->expr(id);
  if (e.kind == ExprKind::List) {
    if (depth >= max_expand_nesting)
      return names_->fail(e.loc, "STV0219", "an expression is nested more than {} deep", max_expand_nesting);
    for (const ExprId part : names_->children(e)) TRY_VOID(literals(part, out, depth + 1));
    return {};
  }
  TRY(const Value v, names_->value(id));
  if (v.kind == Value::Kind::Word || (v.kind == Value::Kind::Integer && v.integer.varying))
    return names_->expected(id, "a number", v);
  if (v.kind == Value::Kind::Typed && v.word != name_of(otherwise_dtype))
    return names_->fail(e.loc, "STV0254", "an element of a {} constant is written as {}", name_of(otherwise_dtype),
                        to_text(v));
  TRY(const Scalar scalar, names_->scalar_of(v, otherwise_dtype, e.loc));
  out.push_back(scalar);
  return {};
}

Result<void> Attributes::evaluate(ExprId id, LiteralsId& out) {
  Literals all;
  TRY_VOID(literals(id, all, 0));
  out = out_->literals.add(std::move(all));
  return {};
}

Result<void> Attributes::evaluate(ExprId id, IntsId& out) {
  TRY(Ints ints, integers(id, "a list of integers"));
  out = out_->ints.add(std::move(ints));
  return {};
}

Result<void> Attributes::cost_field(StringId name, ExprId id, Cost& cost) {
  const std::string_view text = names_->module().text(name);
  if (text == "persistent") return evaluate(id, cost.persistent);
  std::optional<std::int64_t> time;
  const std::pair<std::string_view, std::optional<std::int64_t>*> fields[] = {
      {"flops", &cost.flops}, {"bytes", &cost.bytes}, {"time", &time},        {"ctas", &cost.ctas},
      {"tiles", &cost.tiles}, {"trips", &cost.trips}, {"taken", &cost.taken},
  };
  for (const auto& field : fields) {
    if (field.first != text) continue;
    TRY_VOID(evaluate(id, *field.second));
    if (**field.second < 0)
      return names_->fail(names_->expr(id).loc, "STV0255", "cost `{}` must not be negative, got {}", text,
                          **field.second);
    if (time) cost.time = Picoseconds{*time};
    return {};
  }
  return names_->fail(names_->expr(id).loc, "STV0215",
                      "cost has no `{}`; it has flops, bytes, time, ctas, tiles, persistent, trips, taken", text);
}

Result<CostId> Attributes::cost(const Op& op) {
  for (const Id<Attr> attr_id : op.attrs) {
    const Attr& attr = names_->module().attrs[attr_id];
    if (names_->module().text(attr.name) != "cost") continue;
    const Expr e = names_->expr(attr.value);
    if (e.kind != ExprKind::Record) return names_->expected(attr.value, "a record, such as {time = 1000}");
    const auto parts = names_->children(e);
    Cost cost;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      TRY_VOID(cost_field(names_->expr(parts[i]).string(), parts[i + 1], cost));
    return out_->costs.add(cost);
  }
  return CostId{};
}

}  // namespace stave
