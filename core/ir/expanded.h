// The expanded form: what the ranks that share one entry run. Integers, commands
// and regions; calls, `repeat` and `when` are gone. Only view offsets and `peer`
// may still depend on the rank's mesh coordinates, so that one expansion serves
// all ranks of a mesh.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/module.h"
#include "core/ir/values.h"

namespace stave {

struct Mesh {
  std::vector<std::string> axes;
  std::vector<std::int64_t> sizes;

  std::int64_t ranks() const;
  // Coordinates of a rank: row-major, the last axis fastest.
  std::vector<std::int64_t> coordinates(Rank rank) const;
  Rank rank_at(std::span<const std::int64_t> coordinates) const;
};

// The ranks that a collective of `rank` over these axes and groups joins, by
// position in the group; `position` is that of `rank`. Empty if the groups leave it out.
struct GroupOfRank {
  std::vector<Rank> members;
  std::uint32_t position = 0;
};
GroupOfRank group_of(const Mesh& mesh, const Axes& axes, const Groups& groups, Rank rank);

struct Buffer {
  enum class Kind : std::uint8_t { Parameter, Scratch, Constant };
  Kind kind = Kind::Scratch;
  Space space = Space::Device;
  Dtype dtype = Dtype::F32;
  Direction direction = Direction::In;  // Parameter
  StringId name;                        // without the %
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
  LiteralsId literals;  // Constant
  Axes uniform;         // Parameter: equal on all ranks of these axes
  Loc loc = no_loc;
};
using BufferId = Id<Buffer>;

// A contiguous byte range of a buffer, row-major.
struct View {
  BufferId buffer;
  Dtype dtype = Dtype::F32;
  IdRange<struct DimTag> shape;  // positions in Expanded::dims
  CoordInt offset;               // bytes
  std::int64_t bytes = 0;
  Loc loc = no_loc;
};
using ViewId = Id<View>;

using TokenId = Id<struct Token>;

// Where a command comes from: the call that its function was spliced by, and the
// values of the `repeat` indices around it. Both are chains towards the entry.
struct Iteration {
  Id<Iteration> outer;  // none: outside all repeats of the function
  StringId index;
  std::int64_t value = 0;
};
using IterationId = Id<Iteration>;

struct Frame {
  Id<Frame> caller;  // none: the entry itself
  FunctionId function;
  OpId call;              // the call in the caller
  IterationId iteration;  // of the call
};
using FrameId = Id<Frame>;

struct CommandRegion;
using CommandRegionId = Id<CommandRegion>;

struct Command {
  Payload payload;
  FrameId frame;
  IterationId iteration;
  OpId op;  // the statement in the module
  CostId cost;
  TokenId token;           // async_start: defines; async_done: waits for
  IdRange<View> operands;  // left of the arrow: read (for `both` sides: updated)
  IdRange<View> results;   // right of it: written
  IdRange<CommandRegion> regions;
};
using CommandId = Id<Command>;

struct CommandRegion {
  IdRange<Command> commands;  // consecutive: nested regions' commands stand before
  StringId label;
};

struct Token {
  CommandId start;
  CommandId done;
  StringId name;
};

struct Expanded {
  // The module that it came from: names, sources and places. Shared by the
  // classes of a plan, read by all, changed by nobody.
  std::shared_ptr<const Module> module;
  std::vector<std::pair<std::string, std::int64_t>> params;  // integer params as chosen
  Mesh mesh;
  FunctionId entry;
  std::vector<Rank> ranks;           // that run it, ascending
  std::vector<BufferId> parameters;  // in the order of the entry's formals

  Store<Buffer> buffers;
  Store<View> views;
  Store<std::int64_t, DimTag> dims;
  Store<Command> commands;
  Store<CommandRegion> regions;
  CommandRegionId body;
  Store<Token> tokens;
  Store<Iteration> iterations;
  Store<Frame> frames;

  Store<CoordExpr> coord_exprs;
  Store<Axes, AxesTag> axes;
  Store<Groups, GroupsTag> groups;
  Store<Pairs, PairsTag> pairs;
  Store<Lambda> lambdas;
  Store<std::vector<KernelArg>, ArgsTag> args;
  Store<Record, RecordTag> records;
  Store<Literals, LiteralsTag> literals;
  Store<Ints, IntsTag> ints;
  Store<Cost> costs;

  // By OpId: how often its op stands in its function's text up to it, from 1.
  // Of the module, so shared by its classes like it.
  std::shared_ptr<const std::vector<std::uint32_t>> ordinals;

  const Command& operator[](CommandId id) const { return commands[id]; }
  const View& operator[](ViewId id) const { return views[id]; }
  std::span<const std::int64_t> shape(const View& view) const;
  std::int64_t elements(const View& view) const;
  // The value at the coordinates of a rank.
  std::int64_t at(CoordInt value, Rank rank) const;
  Place place(const Command& command) const;
  // The command's identity (see docs/ir.md): "ring_matmul/gemm#2[s=3]".
  std::string path(CommandId id) const;
  // The group of `rank` in this collective.
  GroupOfRank group_of(const CollectiveAttributes& collective, Rank rank) const;
  // Source and target positions of a permute in a group of n.
  Pairs pairs_of(const CollectivePermute& permute, std::size_t n) const;
};

// All entries of a module: one Expanded for each, and which one a rank runs.
struct Expansion {
  std::vector<Expanded> classes;
  std::vector<std::uint32_t> class_of_rank;
};

struct ExpandOptions {
  // Values for params by name, as text: "8", "bf16", "1.5".
  std::vector<std::pair<std::string, std::string>> params{};
  std::int64_t max_commands = 50'000'000;  // more is an error that names the repeat
};

// Expands all entries. A module with one function and no `entry` runs it on all
// ranks; with several functions and no `entry`, the last one.
// Codes STV0200-0399.
Result<Expansion> expand(const std::shared_ptr<const Module>& module, const ExpandOptions& options = {});

// One function as if it were the entry of all ranks: the meaning of a kernel's
// `reference`. Params and mesh as in `expand`.
Result<Expanded> expand_function(const std::shared_ptr<const Module>& module, FunctionId function,
                                 const ExpandOptions& options = {});

// The structural rules that expansion does not need to hold itself: sizes,
// bounds, aliases, collectives. Codes STV0400-0599. Reports all it finds.
Problems verify(const Expansion& expansion);

// parse (elsewhere), expand and verify in one; what run, sim and lower start from.
Result<Expansion> expand_and_verify(const std::shared_ptr<const Module>& module, const ExpandOptions& options = {});

}  // namespace stave
