// Where ranks meet: the parts of a collective that the members of a clique have
// issued, matched by position per (clique, communicator), and sends with receives
// in order per pair.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lower/cliques.h"

namespace stave {

using LaunchId = Id<struct LaunchTag>;

// One rank's part of a collective; for a group, one of its members.
struct Part {
  Rank rank = 0;
  CommandId command{};
  LaunchId launch{};
};

class Rendezvous {
 public:
  // What happens once all parts are there; by position in the clique, or {send, recv}.
  using Meaning = std::function<Result<void>(std::span<const Part>)>;

  Rendezvous(const Plan& plan, Meaning meaning) : plan_(plan), meaning_(std::move(meaning)), cliques_(plan) {}

  // A rank starts a collective or a group. Runs what is complete by it.
  // Codes STV0810 (parts that do not match), STV0811 (a rank outside of its groups).
  Result<LaunchId> arrive(Rank rank, CommandId command);
  bool complete(LaunchId launch) const { return launches_[launch.value].left == 0; }

  // A rank that the launch waits for, and why; for a launch that is not complete.
  struct Missing {
    Rank rank = 0;
    std::string reason;
  };
  Missing missing(LaunchId launch) const;

 private:
  struct Launch {
    std::uint32_t left = 0;  // parts that have not met
  };
  struct Meeting {
    std::vector<std::optional<Part>> parts;  // by position
    std::size_t arrived = 0;
  };
  struct Sequence {                   // of a clique's collectives on one communicator
    std::vector<std::uint64_t> next;  // by position: number of the rank's next collective
    std::map<std::uint64_t, Meeting> open;
  };
  using SequenceKey = std::pair<CliqueId, std::int32_t>;
  struct Channel {
    std::deque<Part> sends, recvs;
  };
  struct ChannelKey {
    SequenceKey sequence;
    Rank from = 0, to = 0;
    friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
  };

  const Expanded& expanded(Rank rank) const { return plan_.of_rank(rank).expanded; }
  void leaves(Rank rank, CommandId command, std::vector<CommandId>& out) const;
  Result<void> arrive_part(Part part, std::int32_t communicator);
  Result<void> join_meeting(Part part, const SequenceKey& key, std::uint32_t position);
  Result<void> join_channel(Part part, const ChannelKey& key, bool sends);
  Result<void> meet(std::span<const Part> parts);

  const Plan& plan_;
  Meaning meaning_;
  std::vector<Launch> launches_;
  Cliques cliques_;
  std::map<SequenceKey, Sequence> sequences_;
  std::map<ChannelKey, Channel> channels_;
};

}  // namespace stave
