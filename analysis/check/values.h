// What the predicates of a rank stand for: names of values, equal only where the
// values are. A value is named by how it came about: a parameter by its name, and
// by the rank's coordinates along axes on which it is not uniform; what an op
// computes by the op and its operands' names, since ops are deterministic; what a
// collective gives to all of its members by what went in, where all ranks put in
// the same thing, else by the meeting.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/check/line.h"

namespace stave::check {

struct Value {
  std::uint64_t name = 0;
  std::uint64_t recipe = 0;  // the name without coordinates
  // Bit a: differs along mesh axis a, if only by where the rank stands.
  std::uint64_t varies = 0;
  // Every rank of the class comes by it in the same way; false: that depends on coordinates, or on what they decide.
  bool alike = true;
  std::optional<std::int64_t> number;  // where it is known

  bool everywhere() const { return alike && varies == 0; }
};

// Which conds, switches and whiles are looked at, and the buffers that their predicates come from, directly or not.
struct Control {
  std::vector<bool> decides;   // by command
  std::vector<bool> relevant;  // by buffer

  // True if what predicates come from lies elsewhere on each rank.
  bool varies(const Expanded& expanded) const;
};
Control all_control(const Expanded& expanded);
// Those only that decide what meets what: that hold a collective or an async_start, or write what such
// a predicate comes from.
Control control_of_meetings(const Expanded& expanded);

// Why operand 0 of a cond, switch or while may differ between ranks: the
// parameter or command that it comes from, in words; empty if it cannot.
std::string why_not_uniform(const Expanded& expanded, CommandId command);

// What the members put into the meetings of ranks that run several programs. Whether all put in
// the same thing is known once all have come to it, so ranks stop there and begin again.
class Agreements {
 public:
  using Meeting =
      std::tuple<std::uint64_t, std::int32_t, std::uint64_t, std::uint32_t>;  // clique, communicator, number, part

  // Whether all members put in the same; none: not known yet, and this rank's part is noted.
  std::optional<bool> same(const Meeting& meeting, Rank rank, std::size_t members, std::uint64_t recipe, bool alike);
  // Decides what all members have come to, or, if nothing is, what some have. False: all was known.
  bool decide();

 private:
  struct Open {
    std::size_t members = 0;
    std::map<Rank, std::uint64_t> recipes;
    bool alike = true;
    bool same() const;
  };
  std::map<Meeting, bool> known_;
  std::map<Meeting, Open> open_;
};

class Values {
 public:
  // `relevant` must outlive this. `agreements`: where ranks run several programs; null: they run one.
  // With `alone`, this rank's view is all there is.
  Values(const Expanded& expanded, Rank rank, const std::vector<bool>& relevant, Agreements* agreements, bool alone);

  // A meeting was come to whose outcome is not known yet; what follows has no meaning.
  const bool& stopped() const { return stopped_; }

  void ran(const LineNode& node);
  // The rank went one way at a cond, switch or while, where others may go another.
  void decided(CommandId command);
  // Of operand 0 of a cond, switch or while.
  Value predicate(CommandId command) const;

 private:
  struct Piece {
    std::int64_t end = 0;
    std::int64_t from = 0;   // where the value began; a piece may be what is left of it
    std::int64_t whole = 0;  // bytes of the value
    Value value;
  };
  using Pieces = std::map<std::int64_t, Piece>;  // by first byte

  std::uint64_t place(std::uint64_t axes) const;
  Value entry_value(const Buffer& buffer, BufferId id) const;
  Value read(ViewId id) const;
  void write(ViewId id, const Value& value);
  void run(CommandId command);
  void compute(CommandId command);
  bool puts_in_the_same(ViewId result, const Value& in, const GroupOfRank& group, const Agreements::Meeting& meeting);
  template <class Op>
  void meet(CommandId command, const Op& op);

  const Expanded& e_;
  Rank rank_;
  const std::vector<bool>& relevant_;
  Agreements* agreements_;
  bool alone_;
  bool stopped_ = false;
  std::uint64_t all_axes_ = 0;   // with more than one rank
  std::vector<bool> apart_;      // by buffer: what is in it depends on more than its writers say
  std::vector<Pieces> buffers_;  // by buffer; of relevant ones
  std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> meetings_;  // by clique and communicator
};

}  // namespace stave::check
