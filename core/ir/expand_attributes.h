// Attributes: from expressions to the typed members of an op, walked through
// T::fields(). One overload of evaluate() for each type that a member can have.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "core/ir/expand_values.h"

namespace stave {

class Attributes {
 public:
  // Pools go to `out`.
  Attributes(Evaluation& names, Expanded& out) : names_(&names), out_(&out) {}

  // What some values depend on besides the names: set before read().
  std::vector<Dtype> operand_dtypes;   // lambdas
  Dtype otherwise_dtype = Dtype::F32;  // lambdas whose literals meet no operand; constants

  // All attributes of an op. Unknown, repeated, missing and ill-typed ones are errors.
  template <class T>
  Result<T> read(const Op& op) {
    T out{};
    std::uint64_t seen = 0;
    for (const Id<Attr> id : op.attrs) {
      const Attr& attr = names_->module().attrs[id];
      const std::string_view name = names_->module().text(attr.name);
      if (name == "name" || name == "cost") continue;
      Result<void> result;
      bool known = false;
      std::size_t i = 0;
      std::apply(
          [&](const auto&... field) {
            ((field.name == name ? (known = true, seen |= std::uint64_t{1} << i,
                                    result = evaluate_member(attr.value, out.*field.member))
                                 : result,
              ++i),
             ...);
          },
          T::fields());
      if (!known) return unknown(attr, T::info.name, field_names<T>());
      TRY_VOID(std::move(result));
    }
    std::size_t i = 0;
    std::string_view missing;
    std::apply(
        [&](const auto&... field) {
          ((missing = missing.empty() && field.required && !(seen >> i & 1) ? field.name : missing, ++i), ...);
        },
        T::fields());
    if (!missing.empty()) return names_->fail(op.loc, "STV0217", "{} needs the attribute `{}`", T::info.name, missing);
    return out;
  }

  // The common attribute; none if it is not written.
  Result<CostId> cost(const Op& op);

  Result<void> evaluate(ExprId id, bool& out);
  Result<void> evaluate(ExprId id, std::int32_t& out);
  Result<void> evaluate(ExprId id, std::int64_t& out);
  Result<void> evaluate(ExprId id, double& out);
  Result<void> evaluate(ExprId id, StringId& out);
  Result<void> evaluate(ExprId id, SymbolRef& out);
  Result<void> evaluate(ExprId id, NameRef& out);
  Result<void> evaluate(ExprId id, Scalar& out);
  Result<void> evaluate(ExprId id, StreamRef& out);
  Result<void> evaluate(ExprId id, Reduction& out);
  Result<void> evaluate(ExprId id, Epilogue& out);
  Result<void> evaluate(ExprId id, Algorithm& out);
  Result<void> evaluate(ExprId id, Dim3& out);
  Result<void> evaluate(ExprId id, CoordInt& out);
  Result<void> evaluate(ExprId id, Axes& out);
  Result<void> evaluate(ExprId id, AxesId& out);
  Result<void> evaluate(ExprId id, GroupsId& out);
  Result<void> evaluate(ExprId id, PairsId& out);
  Result<void> evaluate(ExprId id, LambdaId& out);
  Result<void> evaluate(ExprId id, ArgsId& out);
  Result<void> evaluate(ExprId id, RecordId& out);
  Result<void> evaluate(ExprId id, LiteralsId& out);
  Result<void> evaluate(ExprId id, IntsId& out);
  template <class T>
  Result<void> evaluate(ExprId id, std::optional<T>& out) {
    T value{};
    TRY_VOID(evaluate_member(id, value));
    out = value;
    return {};
  }

 private:
  template <class T>
  Result<void> evaluate_member(ExprId id, T& member) {
    if constexpr (requires { this->evaluate(id, member); }) {
      return evaluate(id, member);
    } else {
      static_assert(sizeof(T) == 0,
                    "add an evaluate() overload for this attribute's type to core/ir/expand_attributes.h");
    }
  }
  template <class T>
  static std::string field_names() {
    std::string out;
    std::apply([&](const auto&... field) { ((out += field.name, out += ", "), ...); }, T::fields());
    return out + "name, cost";
  }
  Failure unknown(const Attr& attr, std::string_view op, std::string_view known) const;
  // The elements of a list or tuple.
  Result<std::span<const ExprId>> list(ExprId id, std::string_view what) const;
  Result<Ints> integers(ExprId id, std::string_view what);
  Result<std::vector<std::uint32_t>> positions(ExprId id, std::string_view what);
  Result<std::uint32_t> position(ExprId id, std::string_view what);
  Result<void> literals(ExprId id, Literals& out, int depth);
  Result<void> cost_field(StringId name, ExprId id, Cost& cost);
  template <class Enum>
  Result<void> enumerator(ExprId id, Enum& out, Enum last, std::string_view what);

  Evaluation* names_;
  Expanded* out_;
  // Equal axes and groups have one id, so that their rules are checked once.
  std::map<Axes, AxesId> axes_;
  std::map<Groups, GroupsId> groups_;
};

}  // namespace stave
