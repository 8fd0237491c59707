// What the statements of a built schedule are made of: expressions, values and
// tokens, as C++ values that any number of builders may use.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/module.h"

namespace stave::build {

inline constexpr Dtype boolean = Dtype::Bool;
inline constexpr Dtype s4 = Dtype::S4, s8 = Dtype::S8, s16 = Dtype::S16, s32 = Dtype::S32, s64 = Dtype::S64;
inline constexpr Dtype u4 = Dtype::U4, u8 = Dtype::U8, u16 = Dtype::U16, u32 = Dtype::U32, u64 = Dtype::U64;
inline constexpr Dtype f8e4m3 = Dtype::F8E4M3, f8e5m2 = Dtype::F8E5M2;
inline constexpr Dtype f16 = Dtype::F16, bf16 = Dtype::BF16, f32 = Dtype::F32, f64 = Dtype::F64;

// An expression or an attribute's value. Numbers and truth values convert to it;
// operators and functions make larger ones. `%` is mod and rounds down, unlike
// C++'s; div() is the quotient that rounds down, `/` the exact one.
class Term {
 public:
  template <std::integral T>
  Term(T v) : Term(from_integer(static_cast<std::uint64_t>(v), std::is_signed_v<T> && v < T{0})) {}
  Term(bool v);
  Term(double v);

  // Nested deeper than a schedule can be; no operand of anything then. finish() reports it.
  bool too_deep() const { return !node_; }
  bool is_number() const;

  // Puts the expression into a module's stores.
  ExprId write(Module& module) const;

 private:
  struct Node {
    ExprKind kind = ExprKind::Integer;
    BinaryOp op = BinaryOp::Add;
    bool hex = false;
    std::uint64_t bits = 0;
    std::string text;
    std::vector<Term> children;
    std::uint32_t height = 1;
  };
  explicit Term(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Term from_integer(std::uint64_t bits, bool negative);
  static Term make(Node node);

  friend Term binary(BinaryOp op, const Term& a, const Term& b);
  friend Term operator-(const Term& a);
  friend Term name(std::string_view text);
  friend Term text(std::string_view text);
  friend Term symbol(std::string_view text);
  friend Term typed(std::string_view type, const Term& number);
  friend Term apply(std::string_view function, std::vector<Term> arguments);
  friend Term tuple(std::vector<Term> items);
  friend Term list(std::vector<Term> items);
  friend Term record(const std::vector<std::pair<std::string, Term>>& fields);
  friend Term lambda(const std::vector<std::string>& arguments, const Term& body);
  friend Term arrow(const Term& from, const Term& to);
  friend Term span(const Term& from, const Term& to);

  std::shared_ptr<const Node> node_;  // never changes; copies of a term share it
};

// An integer of the static layer: a param, an index, an axis size.
using Int = Term;

Term binary(BinaryOp op, const Term& a, const Term& b);
Term operator-(const Term& a);
Term name(std::string_view text);    // sum, true, an index
Term text(std::string_view text);    // "..."
Term symbol(std::string_view text);  // @f
Term apply(std::string_view function, std::vector<Term> arguments);
Term tuple(std::vector<Term> items);
Term list(std::vector<Term> items);
Term record(const std::vector<std::pair<std::string, Term>>& fields);
Term lambda(const std::vector<std::string>& arguments, const Term& body);
Term arrow(const Term& from, const Term& to);
Term span(const Term& from, const Term& to);
// `f32 1.0`, `in 0`; a call, `s32(n)`, unless the number is a plain one.
Term typed(std::string_view type, const Term& number);
inline Term typed(Dtype dtype, const Term& number) { return typed(name_of(dtype), number); }

inline Term operator+(const Term& a, const Term& b) { return binary(BinaryOp::Add, a, b); }
inline Term operator-(const Term& a, const Term& b) { return binary(BinaryOp::Sub, a, b); }
inline Term operator*(const Term& a, const Term& b) { return binary(BinaryOp::Mul, a, b); }
inline Term operator/(const Term& a, const Term& b) { return binary(BinaryOp::Div, a, b); }
inline Term operator%(const Term& a, const Term& b) { return binary(BinaryOp::Mod, a, b); }
inline Term div(const Term& a, const Term& b) { return binary(BinaryOp::FloorDiv, a, b); }
inline Term operator<(const Term& a, const Term& b) { return binary(BinaryOp::Lt, a, b); }
inline Term operator<=(const Term& a, const Term& b) { return binary(BinaryOp::Le, a, b); }
inline Term operator==(const Term& a, const Term& b) { return binary(BinaryOp::Eq, a, b); }
inline Term operator!=(const Term& a, const Term& b) { return binary(BinaryOp::Ne, a, b); }
inline Term operator>(const Term& a, const Term& b) { return binary(BinaryOp::Gt, a, b); }
inline Term operator>=(const Term& a, const Term& b) { return binary(BinaryOp::Ge, a, b); }

// Functions of a map's lambda.
inline Term abs(const Term& x) { return apply("abs", {x}); }
inline Term exp(const Term& x) { return apply("exp", {x}); }
inline Term log(const Term& x) { return apply("log", {x}); }
inline Term sin(const Term& x) { return apply("sin", {x}); }
inline Term cos(const Term& x) { return apply("cos", {x}); }
inline Term tanh(const Term& x) { return apply("tanh", {x}); }
inline Term sqrt(const Term& x) { return apply("sqrt", {x}); }
inline Term rsqrt(const Term& x) { return apply("rsqrt", {x}); }
inline Term erf(const Term& x) { return apply("erf", {x}); }
inline Term min(const Term& a, const Term& b) { return apply("min", {a, b}); }
inline Term max(const Term& a, const Term& b) { return apply("max", {a, b}); }
inline Term select(const Term& test, const Term& yes, const Term& no) { return apply("select", {test, yes, no}); }
inline Term cast(const Term& x, Dtype dtype) { return apply(name_of(dtype), {x}); }

struct Axis {
  std::string name;
};
// One axis or several, flattened, the last fastest.
struct AxisTuple {
  std::vector<Axis> axes;
  AxisTuple() = default;
  AxisTuple(Axis axis) : axes{std::move(axis)} {}
  AxisTuple(std::initializer_list<Axis> all) : axes(all) {}
};
inline Int size(const Axis& axis) { return apply("axis_size", {name(axis.name)}); }
inline Int index(const Axis& axis) { return apply("axis_index", {name(axis.name)}); }

// A buffer, or a part of one.
class Value {
 public:
  explicit Value(std::string name) : name_(std::move(name)) {}

  Value operator[](Int i) const { return with({Index::Kind::At, i, std::nullopt}); }              // [i]
  Value slice(Int begin, Int end) const { return with({Index::Kind::Slice, begin, end}); }        // [begin:end]
  Value from(Int begin) const { return with({Index::Kind::Slice, begin, std::nullopt}); }         // [begin:]
  Value until(Int end) const { return with({Index::Kind::Slice, std::nullopt, end}); }            // [:end]
  Value sized(Int begin, Int length) const { return with({Index::Kind::Sized, begin, length}); }  // [begin : +length]
  // The same bytes with another element type and shape. Indices stand before it.
  Value as(Dtype dtype, std::vector<Int> shape) const;

  const std::string& name() const { return name_; }
  bool too_deep() const;  // as of its terms
  ViewRef write(Module& module) const;

 private:
  struct Part {
    Index::Kind kind;
    std::optional<Int> begin;
    std::optional<Int> end;
  };
  Value with(Part part) const;

  std::string name_;
  std::vector<Part> parts_;
  std::optional<std::pair<Dtype, std::vector<Int>>> as_;
};
using Values = std::vector<Value>;

// The end of an async_start's body; with an index, one of a row of them.
struct TokenRef {
  std::string name;
  std::optional<Int> index{};
  TokenRef operator[](Int i) const { return {name, std::move(i)}; }
};

struct Stream {
  Term term;
};
inline Stream computation(const Int& n) { return {typed("computation", n)}; }
inline Stream communication(const Int& n) { return {typed("communication", n)}; }

struct Func {
  std::string name;
};
struct Source {
  std::string name;
};

}  // namespace stave::build
