// The source form of a schedule: what the text says, names and expressions and
// all. Values in stores, nested by id, so that copying a module copies vectors.
// The parser and the builder make modules, the printer writes them, `expand`
// turns them into commands.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/problem.h"
#include "core/base/strings.h"
#include "core/ir/dtype.h"
#include "core/ir/ops.h"

namespace stave {

// Byte offset in the text; `none` for what a builder made.
using Loc = std::uint32_t;
inline constexpr Loc no_loc = 0xffffffff;

// ---- expressions and attribute values: one kind of node ----

enum class ExprKind : std::uint8_t {
  Integer,  // 64 bits; `hex` keeps its spelling
  Float,
  String,  // a: StringId
  Symbol,  // a: StringId, without the @
  Name,    // a: StringId: axis, param, index, lambda name, enumerator, true, false
  Typed,   // a: StringId (dtype, computation, in, ...), b: the number: `f32 1.0`, `communication 0`
  Apply,   // children: Name or dtype, then the arguments: axis_size(x), s32(n), communication(s)
  Negate,  // a
  Binary,  // a, b, op
  Tuple,   // children: (e1, e2); a parenthesis around one expression leaves no node
  List,    // children
  Record,  // children: Name, value, Name, value, ...
  Lambda,  // children: Names, then the body
  Arrow,   // a -> b
  Span,    // a .. b
};

enum class BinaryOp : std::uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, Lt, Le, Eq, Ne, Gt, Ge };
std::string_view name_of(BinaryOp op);  // "+", "div", "<=", ...

struct Expr;
using ExprId = Id<Expr>;
using ExprList = IdRange<struct ExprListTag>;  // positions in Module::expr_lists

struct Expr {
  ExprKind kind = ExprKind::Integer;
  BinaryOp op = BinaryOp::Add;  // Binary
  bool hex = false;             // Integer
  Loc loc = no_loc;
  std::uint64_t bits = 0;

  static Expr integer(std::int64_t v, Loc loc = no_loc, bool hex = false) {
    return {ExprKind::Integer, BinaryOp::Add, hex, loc, static_cast<std::uint64_t>(v)};
  }
  static Expr number(double v, Loc loc = no_loc) {
    return {ExprKind::Float, BinaryOp::Add, false, loc, std::bit_cast<std::uint64_t>(v)};
  }
  static Expr text(ExprKind kind, StringId s, Loc loc = no_loc) { return {kind, BinaryOp::Add, false, loc, s.value}; }
  static Expr pair(ExprKind kind, std::uint32_t a, std::uint32_t b, Loc loc = no_loc, BinaryOp op = BinaryOp::Add) {
    return {kind, op, false, loc, std::uint64_t{b} << 32 | a};
  }
  static Expr list(ExprKind kind, ExprList children, Loc loc = no_loc) {
    return pair(kind, children.first, children.count, loc);
  }

  std::int64_t as_integer() const { return static_cast<std::int64_t>(bits); }
  double as_number() const { return std::bit_cast<double>(bits); }
  StringId string() const { return StringId{static_cast<std::uint32_t>(bits)}; }
  ExprId a() const { return ExprId{static_cast<std::uint32_t>(bits)}; }
  ExprId b() const { return ExprId{static_cast<std::uint32_t>(bits >> 32)}; }
  ExprList children() const { return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}; }
};
static_assert(sizeof(Expr) == 16);

// ---- types, views, attributes ----

struct TypeExpr {
  Space space = Space::Device;
  Dtype dtype = Dtype::F32;
  ExprList dims;
  Loc loc = no_loc;
};
using TypeId = Id<TypeExpr>;

// One bracket after a value: [i], [a:b], [a:], [:b], [a:+n].
struct Index {
  enum class Kind : std::uint8_t { At, Slice, Sized };
  Kind kind = Kind::At;
  ExprId begin;  // none: from the start
  ExprId end;    // Slice: one past the last, none: to the end; Sized: the length
};

// A use of a value: `%ring[0][2:4] as u8[16]`. For async_done, a token: `%t[s]`.
struct ViewRef {
  StringId value;  // without the %
  IdRange<Index> indices;
  TypeId as;
  Loc loc = no_loc;
};

struct Attr {
  StringId name;
  ExprId value;
  Loc loc = no_loc;
};

// ---- statements ----

// Text after `//` without the slashes. Leading comments stand on lines of their
// own before a statement, a trailing one behind it.
struct Comment {
  StringId text;
  bool trailing = false;
  bool blank_before = false;  // leading: an empty line comes first
};

struct Region;
struct Op {
  OpKind kind{};
  bool blank_before = false;  // an empty line comes first; kept by `stave fmt`
  Loc loc = no_loc;
  StringId result;            // %t of `%t = ...`, without the %
  ExprId result_index;        // e of `%t[e] = ...`
  StringId callee;            // call @f
  TypeId type;                // scratch, constant
  IdRange<ViewRef> operands;  // left of the arrow
  IdRange<ViewRef> results;   // right of it
  IdRange<Attr> attrs;        // in the order written
  IdRange<Region> regions;
  IdRange<Comment> comments;
};
using OpId = Id<Op>;
using RegionId = Id<Region>;

struct Region {
  IdRange<Op> ops;            // consecutive: a nested region's ops stand before its parent's
  StringId label;             // then, else, branch, condition, body; none
  IdRange<Comment> comments;  // before the closing brace
  Loc loc = no_loc;
  Loc end_loc = no_loc;
};

enum class Direction : std::uint8_t { In, Out, InOut };
std::string_view name_of(Direction direction);

struct Formal {
  StringId name;
  Direction direction = Direction::In;
  TypeId type;
  IdRange<Attr> attrs;  // uniform = [x]
  Loc loc = no_loc;
};

struct Function {
  StringId name;
  IdRange<Formal> formals;
  RegionId body;
  Loc loc = no_loc;
};
using FunctionId = Id<Function>;

struct MeshAxis {
  StringId name;
  std::int64_t size = 1;
  Loc loc = no_loc;
};
struct ParamDecl {
  StringId name;
  ExprId value;
  ExprId allowed;  // a list or a span; none: anything
  Loc loc = no_loc;
};
struct SourceDecl {
  StringId name;
  StringId language;  // ptx, cuda, cubin
  StringId text;
  Loc loc = no_loc;
};
struct EntryDecl {
  StringId function;
  ExprId ranks;  // a list, a span or a number; none: all
  Loc loc = no_loc;
};

// One declaration of the file, so that printing keeps their order and comments.
struct Item {
  enum class Kind : std::uint8_t { Mesh, Param, Source, Function, Entry };
  Kind kind = Kind::Mesh;
  std::uint32_t first = 0;  // position in mesh, params, sources, functions or entries
  std::uint32_t count = 1;  // mesh: axes of this line
  bool blank_before = false;
  IdRange<Comment> comments;
};

struct Module {
  std::string file;                        // for messages
  std::vector<std::uint32_t> line_starts;  // byte offsets; empty for a built module
  Strings strings;

  std::vector<MeshAxis> mesh;
  std::vector<ParamDecl> params;
  std::vector<SourceDecl> sources;
  Store<Function> functions;
  std::vector<EntryDecl> entries;
  std::vector<Item> items;
  IdRange<Comment> start_comments;  // before and behind the line `stave 1`
  IdRange<Comment> end_comments;

  Store<Expr> exprs;
  Store<ExprId, ExprListTag> expr_lists;
  Store<TypeExpr> types;
  Store<Index> indices;
  Store<ViewRef> views;
  Store<Attr> attrs;
  Store<Op> ops;
  Store<Region> regions;
  Store<Formal> formals;
  Store<Comment> comments;

  std::string_view text(StringId id) const { return strings[id]; }
  Place place(Loc loc) const;
  FunctionId function_named(StringId name) const;          // none if there is none
  ExprId attr(const Op& op, std::string_view name) const;  // none if it is not written
};

// Equal in meaning and spelling of names: compares structure and comments, not
// places and not the order of pools.
bool operator==(const Module& a, const Module& b);

}  // namespace stave
