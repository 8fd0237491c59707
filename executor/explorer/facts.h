// What the commands of a plan touch, and where they meet: looked up once, so
// that a transition is cheap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/interpret/operand.h"
#include "core/lower/plan.h"

namespace stave::explorer {

// A range of a rank's memory: all its buffers, one behind the other.
struct Bytes {
  std::uint32_t first = 0, end = 0;

  bool overlaps(Bytes other) const { return first < other.end && other.first < end; }
};

// Where a collective meets its like: the members of a clique on a communicator, or the
// two ends of a channel. They match by position in the order of arrival.
struct Meeting {
  std::vector<Rank> members;  // by position; {from, to} of a channel
};

// A collective's place in its meeting; for a group, one of its members'.
struct Seat {
  CommandId command;
  std::optional<std::uint32_t> meeting{};  // none: the groups leave this rank out
  std::uint32_t contract = 0;              // position in Facts::contracts
  std::vector<Bytes> reads{}, writes{};
  bool carries = false;  // a predicate depends on what it writes
};

struct CommandFacts {
  std::vector<Bytes> reads, writes;
  std::vector<Seat> seats;  // of a collective
  bool collective = false;
  bool carries = false;  // of what is no collective
  std::int32_t ctas = 0;
  std::int32_t communicator = 0;
};

struct RankFacts {
  const RankClass* rank_class = nullptr;
  std::vector<CommandFacts> commands;
  std::vector<std::uint32_t> buffers;  // address of each
  std::uint32_t bytes = 0;
  std::uint32_t carried = 0;   // the first so many bytes are those that predicates depend on
  bool concurrent = false;     // two commands of it can be in flight at once
  bool waits_for_sms = false;  // collectives may have to wait for one another's CTAs
  std::vector<CommandId> whiles;
};

struct Facts {
  const Plan* plan = nullptr;
  std::int32_t sms = 0;
  std::vector<RankFacts> ranks;
  std::vector<Meeting> meetings;
  std::vector<std::string> contracts;
  std::vector<std::vector<char>> carrying;  // by class and buffer: a predicate depends on it
};

Facts facts_of(const Plan& plan, std::int32_t sms);

}  // namespace stave::explorer
