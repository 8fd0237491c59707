// The machine as resources: what each device has of its own, and the links
// between devices. Rank r sits on device r; nodes are consecutive ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/values.h"
#include "core/machine/machine.h"
#include "simulator/demand.h"
#include "simulator/engine.h"

namespace stave::simulator {

class Topology {
 public:
  // `devices`: how many are simulated.
  Topology(const Machine& machine, Engine& engine, std::size_t devices);

  bool crosses_nodes(Rank a, Rank b) const { return node(a) != node(b); }
  std::uint32_t node(Rank rank) const { return rank / per_node_; }

  // What one device gives to a command; `ends`: 2 for a transfer, whose sender and receiver each give a half.
  void local_uses(std::uint32_t device, const std::vector<std::pair<Resource, std::uint32_t>>& parts,
                  std::uint32_t ends, std::vector<Use>& uses) const;
  // Parts of its capacity that are in use now: the device's memory, and what it sends to others of its node (of one
  // link, where each pair has its own).
  double memory_load(std::uint32_t device) const;
  double link_load(std::uint32_t device) const;
  // Of an unhindered engine: what would be busy longest with all of them.
  struct Busiest {
    Picoseconds time{};
    std::uint32_t device = 0;
    std::string_view what;  // "SMs", "memory bandwidth", ...
  };
  Busiest busiest() const;
  // The way from one device to another: the pair's own link (scope peer), or
  // the sender's and the receiver's port (switch, nic).
  void link_uses(std::uint32_t from, std::uint32_t to, bool crosses_nodes, std::uint32_t amount,
                 std::vector<Use>& uses);

 private:
  enum Own : std::uint32_t { Memory, L2, Power, Out, In, NicOut, NicIn, PcieOut, PcieIn };
  static Own own(Resource resource);

  Engine& engine_;
  std::uint32_t per_node_ = 1;
  bool peer_ = false;
  std::vector<std::uint32_t> first_;  // resource of each device
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs_;
};

}  // namespace stave::simulator
