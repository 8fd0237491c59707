// The types that an op's attributes have once they are evaluated. What has no
// fixed size lives in a pool of `Expanded` and is named by an id.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/dtype.h"

namespace stave {

using Rank = std::uint32_t;

// Which stream of a rank. The main stream is not computation 0.
struct StreamRef {
  enum class Kind : std::uint8_t { Main, Computation, Communication };
  Kind kind = Kind::Main;
  std::uint32_t number = 0;

  friend auto operator<=>(const StreamRef&, const StreamRef&) = default;
};

enum class Reduction : std::uint8_t { Sum, Prod, Min, Max };
enum class Epilogue : std::uint8_t { None, Relu, Gelu, Bias };
// ring, tree, nvls: NCCL's; copy_engine: peer copies that take no SM.
enum class Algorithm : std::uint8_t { Automatic, Ring, Tree, Nvls, CopyEngine };
std::string_view name_of(Reduction reduction);
std::string_view name_of(Epilogue epilogue);
std::string_view name_of(Algorithm algorithm);

// A number with its type: `f32 1.0`. Integers are exact; floats keep their double.
struct Scalar {
  Dtype dtype = Dtype::F32;
  std::int64_t integer = 0;
  double number = 0;

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

struct Dim3 {
  std::int32_t x = 1, y = 1, z = 1;

  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// A function or source by name (`@f`), a bare name (`index = s`).
struct SymbolRef {
  StringId name;
  friend bool operator==(SymbolRef, SymbolRef) = default;
};
struct NameRef {
  StringId name;
  friend bool operator==(NameRef, NameRef) = default;
};

// An integer that may depend on the rank's mesh coordinates: `constant`, or the
// value of `varying` at the coordinates when there is one.
using CoordExprId = Id<struct CoordExpr>;
struct CoordInt {
  std::int64_t constant = 0;
  CoordExprId varying;

  friend bool operator==(const CoordInt&, const CoordInt&) = default;
};
struct CoordExpr {
  enum class Op : std::uint8_t { Constant, Axis, Add, Sub, Mul, Div, Mod };  // div and mod round down
  Op op = Op::Constant;
  std::uint32_t axis = 0;  // Axis: its position in the mesh
  CoordExprId a, b;
  std::int64_t value = 0;  // Constant

  friend bool operator==(const CoordExpr&, const CoordExpr&) = default;
};

using AxesId = Id<struct AxesTag>;      // mesh axes by position, in the order written
using GroupsId = Id<struct GroupsTag>;  // index groups: positions in the flattened axis tuple
using PairsId = Id<struct PairsTag>;    // source -> target, positions inside the group
using LambdaId = Id<struct Lambda>;
using ArgsId = Id<struct ArgsTag>;          // kernel arguments
using RecordId = Id<struct RecordTag>;      // named typed attributes
using LiteralsId = Id<struct LiteralsTag>;  // the elements of a constant, flattened
using IntsId = Id<struct IntsTag>;
using CostId = Id<struct Cost>;

using Axes = std::vector<std::uint32_t>;
using Groups = std::vector<std::vector<std::uint32_t>>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Literals = std::vector<Scalar>;
using Ints = std::vector<std::int64_t>;

// `in 0`, `out 1`: the address of operand or result number `index`;
// `tensor_map 0`: a TMA descriptor of it; a scalar is passed by value.
struct KernelArg {
  enum class Kind : std::uint8_t { In, Out, TensorMap, Value };
  Kind kind = Kind::In;
  std::uint32_t index = 0;
  Scalar value;

  friend bool operator==(const KernelArg&, const KernelArg&) = default;
};

struct RecordField {
  StringId name;
  std::variant<bool, std::int64_t, double, StringId, Scalar, Ints> value;

  friend bool operator==(const RecordField&, const RecordField&) = default;
};
using Record = std::vector<RecordField>;

// What the writer of a schedule says a command costs; overrides the model's own derivation.
struct Cost {
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes;
  std::optional<Picoseconds> time;
  std::optional<std::int64_t> ctas;
  std::optional<std::int64_t> tiles;
  std::optional<bool> persistent;
  std::optional<std::int64_t> trips;  // while: iterations of the body
  std::optional<std::int64_t> taken;  // cond, switch: index of the branch

  friend bool operator==(const Cost&, const Cost&) = default;
};

// One value of an elementwise function, computed from nodes before it.
// `dtype` is the type that the node has; f16, bf16 and f8 compute in f32 and
// round after each node; integers wrap.
struct LambdaNode {
  enum class Op : std::uint8_t {
    Argument,
    Constant,
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Lt,
    Le,
    Eq,
    Ne,
    Gt,
    Ge,
    Abs,
    Exp,
    Log,
    Sin,
    Cos,
    Tanh,
    Sqrt,
    Rsqrt,
    Erf,
    Min,
    Max,
    Select,
    Cast
  };
  Op op = Op::Constant;
  Dtype dtype = Dtype::F32;
  std::uint32_t a = 0, b = 0, c = 0;  // operand nodes; Argument: a is its position
  Scalar value;                       // Constant

  friend bool operator==(const LambdaNode&, const LambdaNode&) = default;
};
std::string_view name_of(LambdaNode::Op op);  // "exp", "+", ...

struct Lambda {
  std::uint32_t arity = 0;
  std::vector<LambdaNode> nodes;
  std::vector<std::uint32_t> results;

  friend bool operator==(const Lambda&, const Lambda&) = default;
};

}  // namespace stave
