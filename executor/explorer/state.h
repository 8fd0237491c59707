// Where a step stands: a plain value, which can be copied and compared by its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "executor/explorer/facts.h"

namespace stave::explorer {

struct Host {
  std::uint32_t at = 0;    // action
  std::int32_t value = 0;  // the predicate that it read last
  bool started = true;
  bool reading = false;
};

// Of a stream's queue.
struct Item {
  enum class Kind : std::uint8_t { Launch, Record, Wait, Predicate, Graph };
  Kind kind = Kind::Launch;
  bool begun = false;
  std::uint32_t stream = 0;
  CommandId command{};
  std::uint32_t detail = 0;  // Record, Wait: event; Predicate: host; Graph: graph, its run once it has begun
  std::uint32_t number = 0;  // Record, Wait: which record of the event
};

struct EventState {
  std::uint32_t issued = 0, done = 0;
};

struct GraphRun {
  enum class Node : std::uint8_t { Waiting, InFlight, Body, Done };
  GraphId graph{};
  std::uint32_t parent = 0, parent_node = 0;
  bool nested = false;  // a body: `parent` holds its conditional node
  bool active = false;
  std::vector<Node> nodes;
};

// A collective that has arrived and not ended; for a group, one for each member.
struct Arrival {
  CommandId launch{};
  std::uint32_t seat = 0;  // of the launch
  std::uint32_t number = 0;
  bool met = false;
};

struct RankState {
  std::vector<Host> hosts;
  std::vector<Item> items;  // of all streams, in issue order
  std::vector<EventState> events;
  std::vector<GraphRun> runs;  // slots: a run keeps its place while it is active
  std::vector<Arrival> arrivals;
  std::vector<std::uint32_t> arrived;    // by meeting: how often
  std::vector<CommandId> in_flight;      // what runs and reads or writes, in order of beginning
  std::vector<std::byte> values;         // of the carried bytes
  std::vector<std::uint64_t> undefined;  // bits by carried byte: any value
  std::vector<std::uint64_t> written;    // bits by byte
  std::vector<std::uint8_t> iterations;  // by RankFacts::whiles: bodies that an undefined predicate chose
};

struct State {
  std::vector<RankState> ranks;
  bool mismatched = false;  // a meeting failed: its parts never end
};

// Two states of one key are taken for equal: 128 bits.
using StateKey = std::pair<std::uint64_t, std::uint64_t>;
StateKey key_of(const State& state);

// Bits by address.
bool all_set(const std::vector<std::uint64_t>& bits, Bytes range);
bool any_set(const std::vector<std::uint64_t>& bits, Bytes range);
void set(std::vector<std::uint64_t>& bits, Bytes range, bool value);

}  // namespace stave::explorer
