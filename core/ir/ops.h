// The op table. An op is a plain struct: what it is called, what it may have,
// and its attributes as typed members. To add one: write the struct, put its
// name into OpTypes (and into Payload if it runs); the build then names the
// hooks that are missing. docs/ir.md is made from this file by `stave docs`.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <variant>

#include "core/ir/op_info.h"

namespace stave {

// ---- static layer: gone after expansion ----

struct Scratch {
  static constexpr OpInfo info{
      .name = "scratch",
      .family = OpFamily::Buffer,
      .summary =
          "A buffer of this function: one allocation for each call in the text, shared by all iterations. "
          "Its contents are undefined at entry. Stands at the top of a function.",
      .example = "%s = scratch host f32[4]",
      .result = ResultKind::Buffer,
      .type = true,
      .runs = false};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Scratch&, const Scratch&) = default;
};

struct Constant {
  LiteralsId value;

  static constexpr OpInfo info{
      .name = "constant",
      .family = OpFamily::Buffer,
      .summary = "A read-only buffer with the given elements, or one element for all. Stands at the top of a function.",
      .example = "%k = constant f32[3] (value = [1.0, 2.0, 3.0])",
      .result = ResultKind::Buffer,
      .type = true,
      .runs = false};
  static constexpr auto fields() {
    return std::tuple{
        Field{"value", &Constant::value, "the elements in row-major order, or one number for all", required}};
  }
  friend bool operator==(const Constant&, const Constant&) = default;
};

struct ViewOp {
  static constexpr OpInfo info{
      .name = "view",
      .family = OpFamily::Buffer,
      .summary = "A name for a contiguous byte range of a buffer, optionally with another element type or shape.",
      .example = "%v = view %a[4:8] as u8[16]",
      .result = ResultKind::View,
      .operands = {1, 1},
      .runs = false};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const ViewOp&, const ViewOp&) = default;
};

struct Call {
  static constexpr OpInfo info{
      .name = "call",
      .family = OpFamily::Static,
      .summary = "Puts the commands of a function here, with views for its parameters. Calls are acyclic.",
      .example = "call @f %x[:4], %y",
      .callee = true,
      .operands = {0, Arity::many},
      .runs = false};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Call&, const Call&) = default;
};

struct Repeat {
  NameRef index;
  std::int64_t from = 0;
  std::int64_t to = 0;

  static constexpr OpInfo info{
      .name = "repeat",
      .family = OpFamily::Static,
      .summary = "Is its unrolling: the body once for each index from `from` up to but not including `to`.",
      .example = "repeat (index = s, from = 1, to = n) { }",
      .regions = {{""}, 1, 1},
      .runs = false};
  static constexpr auto fields() {
    return std::tuple{Field{"index", &Repeat::index, "the name of the index", required},
                      Field{"from", &Repeat::from, "the first index; 0 by default"},
                      Field{"to", &Repeat::to, "one past the last index", required}};
  }
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

struct When {
  bool test = false;

  static constexpr OpInfo info{.name = "when",
                               .family = OpFamily::Static,
                               .summary = "Its body if the test holds, nothing otherwise; decided at expansion.",
                               .example = "when (test = s + 2 < n) { }",
                               .regions = {{""}, 1, 1},
                               .runs = false};
  static constexpr auto fields() {
    return std::tuple{Field{"test", &When::test, "a comparison of integers that are known at expansion", required}};
  }
  friend bool operator==(const When&, const When&) = default;
};

// ---- memory ----

struct Memzero {
  static constexpr OpInfo info{.name = "memzero",
                               .family = OpFamily::Memory,
                               .summary = "Sets all bytes to zero.",
                               .example = "memzero -> %d",
                               .results = {1, 1}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Memzero&, const Memzero&) = default;
};

struct Memset {
  Scalar value;

  static constexpr OpInfo info{.name = "memset",
                               .family = OpFamily::Memory,
                               .summary = "Fills with a 32-bit pattern: one f32, s32 or u32 number.",
                               .example = "memset -> %d (value = f32 1.0)",
                               .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple{
        Field{"value", &Memset::value, "f32, s32 or u32 number; the destination's elements have 32 bits", required}};
  }
  friend bool operator==(const Memset&, const Memset&) = default;
};

struct Copy {
  static constexpr OpInfo info{
      .name = "copy",
      .family = OpFamily::Memory,
      .summary = "Copies bytes between device and device, device and host. Both views have the same size.",
      .example = "copy %s[:4] -> %d",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Copy&, const Copy&) = default;
};

// ---- compute ----

struct Map {
  LambdaId f;

  static constexpr OpInfo info{
      .name = "map",
      .family = OpFamily::Compute,
      .summary =
          "Applies a function to each element. Scalars and suffix shapes broadcast; there is no promotion: "
          "all operands have one dtype, and each result is cast to its destination.",
      .example = "map %x, %y -> %o (f = |x, y| sin(x) * 2.0 + y)",
      .operands = {0, Arity::many},
      .results = {1, Arity::many}};
  static constexpr auto fields() {
    return std::tuple{Field{"f", &Map::f, "a lambda of one name an operand; `(e1, e2)` for several results", required}};
  }
  friend bool operator==(const Map&, const Map&) = default;
};

struct Gemm {
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 0;
  Epilogue epilogue = Epilogue::None;
  std::int32_t sm_count = 0;

  static constexpr OpInfo info{
      .name = "gemm",
      .family = OpFamily::Compute,
      .summary =
          "C = epilogue(alpha * op(A) op(B) + beta * C) over row-major matrices, with equal leading batch "
          "dimensions. With beta other than 0, C is the third operand. Accumulates in f32 for half types.",
      .example = "gemm %a, %b -> %c (transpose_b = true)",
      .operands = {2, 4},
      .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple{
        Field{"transpose_a", &Gemm::transpose_a, "A is stored as [k, m]"},
        Field{"transpose_b", &Gemm::transpose_b, "B is stored as [n, k]"},
        Field{"alpha", &Gemm::alpha, "factor of the product"},
        Field{"beta", &Gemm::beta, "factor of the destination before"},
        Field{"epilogue", &Gemm::epilogue, "none, relu, gelu (tanh form), or bias (last operand, length n)"},
        Field{"sm_count", &Gemm::sm_count, "SMs the library may use; 0 is all"}};
  }
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

struct Reduce {
  Reduction reduction = Reduction::Sum;
  IntsId axes;

  static constexpr OpInfo info{.name = "reduce",
                               .family = OpFamily::Compute,
                               .summary = "Reduces over the named dimensions; accumulates in f32 for half types.",
                               .example = "reduce %x -> %y (reduction = sum, axes = [1])",
                               .operands = {1, 1},
                               .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple{Field{"reduction", &Reduce::reduction, "sum, prod, min or max", required},
                      Field{"axes", &Reduce::axes, "the dimensions that go", required}};
  }
  friend bool operator==(const Reduce&, const Reduce&) = default;
};

struct Kernel {
  SymbolRef source;
  StringId entry;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;
  std::int32_t shared_memory = 0;
  ArgsId args;
  SymbolRef reference;
  RecordId peer;

  static constexpr OpInfo info{
      .name = "kernel",
      .family = OpFamily::Compute,
      .summary =
          "Launches a kernel of a source in this module. `reference` is a function of this module that gives "
          "its meaning on a CPU, with the operands and then the results as parameters.",
      .example =
          "kernel %i -> %o (source = @p, entry = \"add_one\", grid = [1, 1, 1], block = [4, 1, 1], "
          "args = [in 0, out 0], reference = @f)",
      .operands = {0, Arity::many},
      .results = {0, Arity::many}};
  static constexpr auto fields() {
    return std::tuple{Field{"source", &Kernel::source, "the source that holds it", required},
                      Field{"entry", &Kernel::entry, "its name there", required},
                      Field{"grid", &Kernel::grid, "blocks in x, y, z", required},
                      Field{"block", &Kernel::block, "threads in x, y, z", required},
                      Field{"cluster", &Kernel::cluster, "blocks of a cluster in x, y, z"},
                      Field{"shared_memory", &Kernel::shared_memory, "dynamic shared memory in bytes"},
                      Field{"args", &Kernel::args,
                            "its parameters in order: in N, out N, tensor_map N, or a typed scalar; "
                            "by default the operands, then the results"},
                      Field{"reference", &Kernel::reference, "a function with its meaning"},
                      Field{"peer", &Kernel::peer, "what it does to symmetric buffers of other ranks; reserved"}};
  }
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct CustomCall {
  StringId target;
  RecordId attributes;

  static constexpr OpInfo info{
      .name = "custom_call",
      .family = OpFamily::Compute,
      .summary = "Calls a C++ handler that is registered under a name, with typed attributes.",
      .example = "custom_call %a -> %a, %info (target = \"cusolver_potrf\", attributes = {lower = false})",
      .operands = {0, Arity::many},
      .results = {0, Arity::many}};
  static constexpr auto fields() {
    return std::tuple{Field{"target", &CustomCall::target, "the handler's name", required},
                      Field{"attributes", &CustomCall::attributes, "a record of typed values"}};
  }
  friend bool operator==(const CustomCall&, const CustomCall&) = default;
};

// ---- control flow: predicates live in device memory ----

struct Cond {
  static constexpr OpInfo info{.name = "cond",
                               .family = OpFamily::Control,
                               .summary = "Runs `then` if the bool in device memory is true, `else` otherwise.",
                               .example = "cond %p then { } else { }",
                               .operands = {1, 1},
                               .regions = {{"then", "else"}, 1, 2}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Cond&, const Cond&) = default;
};

struct Switch {
  static constexpr OpInfo info{
      .name = "switch",
      .family = OpFamily::Control,
      .summary =
          "Runs the branch whose number is the s32 in device memory; out of range, also negative, runs the last.",
      .example = "switch %i branch { } branch { }",
      .operands = {1, 1},
      .regions = {{"branch"}, 1, Arity::many}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const Switch&, const Switch&) = default;
};

struct While {
  static constexpr OpInfo info{
      .name = "while",
      .family = OpFamily::Control,
      .summary =
          "Runs `condition`, which writes the bool operand; while that is true, runs `body` and `condition` again.",
      .example = "while %more (cost = {trips = 3}) condition { } body { }",
      .operands = {1, 1},
      .regions = {{"condition", "body"}, 2, 2}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const While&, const While&) = default;
};

// ---- streams ----

struct AsyncStart {
  StreamRef stream;

  static constexpr OpInfo info{
      .name = "async_start",
      .family = OpFamily::Stream,
      .summary =
          "Issues its body on another stream, behind all that the issuing stream holds now and all that the "
          "target stream holds already. Gives a token that stands for the end of the body.",
      .example = "%t = async_start (stream = communication 0) { }",
      .result = ResultKind::Token,
      .regions = {{""}, 1, 1}};
  static constexpr auto fields() {
    return std::tuple{Field{"stream", &AsyncStart::stream, "computation N or communication N", required}};
  }
  friend bool operator==(const AsyncStart&, const AsyncStart&) = default;
};

struct AsyncDone {
  static constexpr OpInfo info{
      .name = "async_done",
      .family = OpFamily::Stream,
      .summary =
          "Makes the stream it stands in wait for the end of the token's body, and for nothing else. The host "
          "does not block.",
      .example = "async_done %t",
      .operands = {1, 1}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const AsyncDone&, const AsyncDone&) = default;
};

// ---- collectives: every rank of a group issues them ----

// What all collectives share. `communicator` none: 1 for permute, send and recv, 0 for the others.
struct CollectiveAttributes {
  AxesId axis;
  GroupsId groups;
  std::optional<std::int32_t> communicator;
  std::int32_t max_ctas = 0;
  Algorithm algorithm = Algorithm::Automatic;

  friend bool operator==(const CollectiveAttributes&, const CollectiveAttributes&) = default;
};

template <class Op>
constexpr auto collective_fields() {
  return std::tuple{Field<Op, AxesId>{"axis", static_cast<AxesId Op::*>(&Op::axis),
                                      "a mesh axis, or a list: flattened, last fastest", required},
                    Field<Op, GroupsId>{"groups", static_cast<GroupsId Op::*>(&Op::groups),
                                        "index groups over the flattened axes; by default one group of all"},
                    Field<Op, std::optional<std::int32_t>>{
                        "communicator", static_cast<std::optional<std::int32_t> Op::*>(&Op::communicator),
                        "collectives of one communicator run in issue order, across streams too"},
                    Field<Op, std::int32_t>{"max_ctas", static_cast<std::int32_t Op::*>(&Op::max_ctas),
                                            "at most this many CTAs; 0: the library's choice"},
                    Field<Op, Algorithm>{"algorithm", static_cast<Algorithm Op::*>(&Op::algorithm),
                                         "ring, tree, nvls, or copy_engine (peer copies that take no SM)"}};
}

struct AllReduce : CollectiveAttributes {
  Reduction reduction = Reduction::Sum;

  static constexpr OpInfo info{
      .name = "all_reduce",
      .family = OpFamily::Collective,
      .summary =
          "Every rank of the group gets the reduction of all sources. Source and destination are equal or disjoint.",
      .example = "all_reduce %s -> %d (axis = x, reduction = sum)",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(collective_fields<AllReduce>(),
                          std::tuple{Field{"reduction", &AllReduce::reduction, "sum, prod, min or max", required}});
  }
  friend bool operator==(const AllReduce&, const AllReduce&) = default;
};

struct AllGather : CollectiveAttributes {
  static constexpr OpInfo info{
      .name = "all_gather",
      .family = OpFamily::Collective,
      .summary =
          "Every rank gets the sources of all, in group order. In place: the source is position r of the destination.",
      .example = "all_gather %s -> %d (axis = x)",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() { return collective_fields<AllGather>(); }
  friend bool operator==(const AllGather&, const AllGather&) = default;
};

struct ReduceScatter : CollectiveAttributes {
  Reduction reduction = Reduction::Sum;

  static constexpr OpInfo info{
      .name = "reduce_scatter",
      .family = OpFamily::Collective,
      .summary = "Reduces all sources; position r gets part r. In place: the destination is position r of the source.",
      .example = "reduce_scatter %s -> %d (axis = x, reduction = sum)",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(collective_fields<ReduceScatter>(),
                          std::tuple{Field{"reduction", &ReduceScatter::reduction, "sum, prod, min or max", required}});
  }
  friend bool operator==(const ReduceScatter&, const ReduceScatter&) = default;
};

struct AllToAll : CollectiveAttributes {
  static constexpr OpInfo info{
      .name = "all_to_all",
      .family = OpFamily::Collective,
      .summary =
          "Part p of a rank's source goes to position p, into the part of this rank's position. One source split "
          "in equal parts, or one buffer a peer.",
      .example = "all_to_all %s -> %d (axis = x)",
      .operands = {1, Arity::many},
      .results = {1, Arity::many}};
  static constexpr auto fields() { return collective_fields<AllToAll>(); }
  friend bool operator==(const AllToAll&, const AllToAll&) = default;
};

struct CollectivePermute : CollectiveAttributes {
  PairsId pairs;
  std::optional<std::int32_t> shift;

  static constexpr OpInfo info{
      .name = "collective_permute",
      .family = OpFamily::Collective,
      .summary =
          "Each source position sends to its target. A position without a source gets zeros; one without a target "
          "only receives.",
      .example = "collective_permute %s -> %d (axis = x, shift = 1)",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(
        collective_fields<CollectivePermute>(),
        std::tuple{Field{"pairs", &CollectivePermute::pairs, "[0 -> 1, 1 -> 0]: positions inside the group"},
                   Field{"shift", &CollectivePermute::shift, "instead of pairs: p sends to (p + shift) mod n"}});
  }
  friend bool operator==(const CollectivePermute&, const CollectivePermute&) = default;
};

struct Broadcast : CollectiveAttributes {
  std::int32_t root = 0;

  static constexpr OpInfo info{
      .name = "broadcast",
      .family = OpFamily::Collective,
      .summary = "Every rank gets the source of the root. Source and destination are equal or disjoint.",
      .example = "broadcast %s -> %d (axis = x, root = 0)",
      .operands = {1, 1},
      .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(collective_fields<Broadcast>(),
                          std::tuple{Field{"root", &Broadcast::root, "position inside the group"}});
  }
  friend bool operator==(const Broadcast&, const Broadcast&) = default;
};

struct Send : CollectiveAttributes {
  CoordInt peer;

  static constexpr OpInfo info{.name = "send",
                               .family = OpFamily::Collective,
                               .summary = "Sends to one peer, which must issue the matching recv.",
                               .example = "send %s (axis = x, peer = 1)",
                               .operands = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(
        collective_fields<Send>(),
        std::tuple{Field{"peer", &Send::peer, "position inside the group; may use axis_index", required}});
  }
  friend bool operator==(const Send&, const Send&) = default;
};

struct Recv : CollectiveAttributes {
  CoordInt peer;

  static constexpr OpInfo info{.name = "recv",
                               .family = OpFamily::Collective,
                               .summary = "Receives from one peer, which must issue the matching send.",
                               .example = "recv -> %d (axis = x, peer = 0)",
                               .results = {1, 1}};
  static constexpr auto fields() {
    return std::tuple_cat(
        collective_fields<Recv>(),
        std::tuple{Field{"peer", &Recv::peer, "position inside the group; may use axis_index", required}});
  }
  friend bool operator==(const Recv&, const Recv&) = default;
};

struct CollectiveGroup {
  static constexpr OpInfo info{
      .name = "collective_group",
      .family = OpFamily::Collective,
      .summary = "Its collectives are one launch on one communicator, unordered among themselves.",
      .example = "collective_group { }",
      .regions = {{""}, 1, 1}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const CollectiveGroup&, const CollectiveGroup&) = default;
};

// ---- marks ----

struct RangeMark {
  static constexpr OpInfo info{.name = "range",
                               .family = OpFamily::Mark,
                               .summary = "Names the commands in it, as an NVTX range does. Not a scope.",
                               .example = "range (name = \"forward\") { }",
                               .regions = {{""}, 1, 1}};
  static constexpr auto fields() { return std::tuple{}; }
  friend bool operator==(const RangeMark&, const RangeMark&) = default;
};

template <class... Ts>
struct TypeList {
  static constexpr std::size_t size = sizeof...(Ts);
};

// Every op of the text form, in the order of the reference.
using OpTypes = TypeList<Scratch, Constant, ViewOp, Call, Repeat, When, Memzero, Memset, Copy, Map, Gemm, Reduce,
                         Kernel, CustomCall, Cond, Switch, While, AsyncStart, AsyncDone, AllReduce, AllGather,
                         ReduceScatter, AllToAll, CollectivePermute, Broadcast, Send, Recv, CollectiveGroup, RangeMark>;

// What is left after expansion.
using Payload = std::variant<Memzero, Memset, Copy, Map, Gemm, Reduce, Kernel, CustomCall, Cond, Switch, While,
                             AsyncStart, AsyncDone, AllReduce, AllGather, ReduceScatter, AllToAll, CollectivePermute,
                             Broadcast, Send, Recv, CollectiveGroup, RangeMark>;

template <class T>
concept CollectiveOp = std::is_base_of_v<CollectiveAttributes, T>;

// Position of an op in OpTypes.
enum class OpKind : std::uint8_t {};

namespace detail {
template <class T, class List>
struct IndexIn;
template <class T, class... Ts>
struct IndexIn<T, TypeList<Ts...>> {
  static constexpr std::size_t value = [] {
    constexpr bool same[] = {std::is_same_v<T, Ts>...};
    for (std::size_t i = 0; i < sizeof...(Ts); ++i)
      if (same[i]) return i;
    return sizeof...(Ts);
  }();
  static_assert(value < sizeof...(Ts), "put this op into OpTypes in core/ir/ops.h");
};
}  // namespace detail

template <class T>
inline constexpr OpKind kind_of = static_cast<OpKind>(detail::IndexIn<T, OpTypes>::value);

// The table itself, for all who do not need the static type.
struct FieldInfo {
  std::string_view name;
  std::string_view type;  // "integer", "lambda", ... as the reference prints it
  std::string_view summary;
  bool required;
};
struct OpEntry {
  OpInfo info;
  std::vector<FieldInfo> fields;
};
const std::vector<OpEntry>& op_table();  // by OpKind
inline const OpInfo& info_of(OpKind kind) { return op_table()[static_cast<std::size_t>(kind)].info; }
std::optional<OpKind> op_named(std::string_view name);

// Attributes that every op takes besides its own: name and cost.
std::span<const FieldInfo> common_fields();

OpKind kind_of_payload(const Payload& payload);

}  // namespace stave
