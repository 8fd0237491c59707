// What expressions outside lambdas are at expansion: integers (which may depend
// on mesh coordinates), numbers, booleans, bare words, typed numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/ir/expand_coord.h"
#include "core/ir/expanded.h"

namespace stave {

inline constexpr int max_expand_nesting = 256;

struct Value {
  enum class Kind : std::uint8_t {
    Integer,
    Number,
    Boolean,
    Word,   // a name that is no axis, param or index: `sum`, `bf16`, or unknown
    Typed,  // `communication 0`, `f32 1.0`: word, and integer or number
  };
  Kind kind = Kind::Integer;
  bool boolean = false;
  bool whole = true;        // Typed: integer holds it, not number
  bool unsigned64 = false;  // Integer: a pattern of 64 bits in hex, which u64 takes as it is
  CoordInt integer;
  double number = 0;
  std::string_view word;

  static Value of(std::int64_t v) {
    Value out;
    out.integer.constant = v;
    return out;
  }
  static Value of_number(double v) {
    Value out;
    out.kind = Kind::Number;
    out.number = v;
    return out;
  }
  static Value of_boolean(bool v) {
    Value out;
    out.kind = Kind::Boolean;
    out.boolean = v;
    return out;
  }
  static Value of_word(std::string_view v) {
    Value out;
    out.kind = Kind::Word;
    out.word = v;
    return out;
  }
  bool is_plain_integer() const { return kind == Kind::Integer && !integer.varying; }
};

// "7", "1.5", "true", "bf16", "communication 0".
std::string to_text(const Value& value);
// Equal as numbers, words or booleans.
bool same_value(const Value& a, const Value& b);
// "an integer", "a list", ... for messages.
std::string_view kind_text(ExprKind kind);

// The namespace that axes, params and repeat indices share, and the evaluation
// of expressions in it. Indices are visible in their own function only.
class Evaluation {
 public:
  Evaluation(const Module& module, const Mesh& mesh, CoordPool* coords);

  // What depends on coordinates goes to this pool from here on.
  void use_coords(CoordPool* coords) { coords_ = coords; }
  CoordPool* coords() const { return coords_; }
  const Module& module() const { return *module_; }
  const Mesh& mesh() const { return *mesh_; }

  void set_param(StringId name, Value value);
  const std::vector<Value>& params() const { return params_; }

  // Indices: `exchange` when a repeat begins returns what to put back when it ends.
  struct Binding {
    enum class Kind : std::uint8_t { None, Axis, Param, Index };
    Kind kind = Kind::None;
    std::uint32_t slot = 0;  // Axis, Param: position; Index: the function level that owns it
    std::int64_t value = 0;  // Index
  };
  Binding exchange(StringId name, Binding binding);
  void set_index(StringId name, std::int64_t value) { names_[name.value] = {Binding::Kind::Index, level_, value}; }
  void enter_function() { ++level_; }
  void leave_function() { --level_; }
  std::uint32_t level() const { return level_; }

  Result<Value> value(ExprId id);
  // An integer that is the same on all ranks (rule 20).
  Result<std::int64_t> integer(ExprId id);
  Result<CoordInt> coord_integer(ExprId id);
  Result<double> number(ExprId id);
  Result<bool> boolean(ExprId id);
  // `communication 0` and `communication(s)` alike; Kind::Typed.
  Result<Value> typed(ExprId id, std::string_view expected);
  Result<std::uint32_t> axis(ExprId id);
  // A number as an element of a dtype; `where` is the place for messages.
  Result<Scalar> scalar_of(const Value& value, Dtype dtype, Loc where) const;

  std::span<const ExprId> children(const Expr& e) const {
    return std::span<const ExprId>(module_->expr_lists.raw()).subspan(e.children().first, e.children().count);
  }
  const Expr& expr(ExprId id) const { return module_->exprs[id]; }
  Binding binding(StringId name) const;

  template <class... Args>
  Failure fail(Loc loc, std::string_view code, fmt::format_string<Args...> format, Args&&... args) const {
    return error_at(module_->place(loc), code, format, std::forward<Args>(args)...);
  }
  // STV0245: what was expected and what stands there.
  Failure expected(ExprId id, std::string_view what) const;
  Failure expected(ExprId id, std::string_view what, const Value& got) const;

 private:
  bool plain_integer(ExprId id, std::int64_t& out, int depth) const;
  Result<Value> nested_value(ExprId id);
  Result<Value> name(const Expr& e);
  Result<Value> apply(const Expr& e);
  Result<Value> binary(const Expr& e);
  Result<Value> compare(const Expr& e, const Value& a, const Value& b);

  const Module* module_;
  const Mesh* mesh_;
  CoordPool* coords_;
  std::vector<Binding> names_;  // by StringId
  std::vector<Value> params_;
  std::uint32_t level_ = 0;
  int depth_ = 0;
};

}  // namespace stave
