// What a finding looks like (Scene): which commands it is about and what orders them.
#pragma once

#include "analysis/check/finding.h"
#include "analysis/check/liveness.h"
#include "analysis/check/memory_faults.h"
#include "analysis/check/residence.h"

namespace stave::check {

Scene scene_of_race(const RankClass& rank_class, const Line& line, const Race& race);

// A cond, switch or while that two ranks of one class leave in different ways.
struct Parting {
  Rank a = 0, b = 0;
  CommandId command{};
  std::string a_does, b_does;  // "takes `then`"
  CommandId waiting{};         // of a, behind it
};
Scene scene_of_parting(const Plan& plan, const Parting& parting);

Scene scene_of_mismatch(const Plan& plan, const Liveness::Mismatch& mismatch);
Scene scene_of_cycle(const Plan& plan, const World& world, const Liveness::Chain& chain);
// Of a wait for what a rank does not have.
Scene scene_of_missing(const Plan& plan, const World& world, const Meetings& meetings, const Liveness::Link& link);
Scene scene_of_residence(const Plan& plan, const World& world, const Meetings& meetings, const Residence& residence,
                         std::int32_t sms);
// Empty if the two ranks run different lines.
Scene scene_of_overlap(const Plan& plan, const World& world, const Overlap& overlap);

}  // namespace stave::check
