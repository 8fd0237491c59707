// Demands of a plan's commands on one machine, worked out once each.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/lower/plan.h"
#include "core/timeline/rows.h"
#include "simulator/demand.h"

namespace stave::simulator {

struct Costed {
  Demand demand;
  ActivitySpec spec;
  std::vector<std::pair<Resource, std::uint32_t>> amounts;
  std::uint8_t slice_flags = 0;
  bool known = false;
};

class Costs {
 public:
  Costs(const Plan& plan, const Machine& machine, double clock);

  // Of a command on `ranks` ranks (1: not a collective). Problems are kept; the demand is empty then.
  const Costed& of(std::uint32_t rank_class, CommandId command, std::size_t ranks = 1, bool crosses_nodes = false);

  Problems& problems() { return problems_; }
  // Names in [[beside]] and how they slow each other, by Costed::spec.rival.
  std::uint32_t rivals() const { return static_cast<std::uint32_t>(rival_names_.size()); }
  std::vector<Rivalry> rivalries() const;

 private:
  void make(Costed& costed, const DemandOf& context);

  const Plan& plan_;
  const Machine& machine_;
  double clock_;
  GemmTimes gemm_times_;
  std::vector<std::string> rival_names_;
  std::vector<std::vector<Costed>> alone_;  // by class and command
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t, bool>, Costed> together_;
  Problems problems_;
};

}  // namespace stave::simulator
