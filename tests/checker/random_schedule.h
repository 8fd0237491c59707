// Small schedules by chance, as text: 1 to 4 ranks, some commands, streams, views
// that may overlap, collectives that may not match. Each predicate reads a
// parameter, or what derives from one that no other predicate derives from; a
// loop counts down a parameter of its own, and no loop stands in another. So
// every way that a checker can think of is a way that some input takes.
#pragma once

#include <cstdint>
#include <string>

#include "core/lower/plan.h"

namespace stave {

struct RandomSchedule {
  std::string text;
  Mode mode = Mode::Eager;
};

// The same for the same seed. Some do not verify: a collective's sizes, an alias.
RandomSchedule random_schedule(std::uint64_t seed);

}  // namespace stave
