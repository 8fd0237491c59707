// How a grid gets through its tiles, in closed form: CTAs that were placed
// together stand in one group with one phase, so a kernel costs its groups and
// not its tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/clock.h"

namespace stave::simulator {

enum class GridKind : std::uint8_t {
  OnePerTile,         // a CTA a tile; a CTA that ends makes room for the next
  PersistentDynamic,  // CTAs take the next tile of a common pool until it is empty
  PersistentStatic,   // each CTA has its own tiles from the start
  Gang,               // one CTA a tile, on several devices at once
};

// `clock` is the kernel's own: the work that each resident CTA has behind it.
class Tiles {
 public:
  // tiles, ctas, work > 0. `work` of one tile.
  void start(GridKind kind, std::int64_t tiles, std::int64_t ctas, Work work);

  // CTAs that could still be placed and would find a tile.
  std::int64_t waiting() const;
  std::int64_t working() const { return working_; }
  bool done() const { return working_ == 0 && waiting() == 0; }

  // Up to waiting() CTAs become resident. Call advance(clock) before.
  void place(std::int64_t ctas, Work clock);

  // The clock at which the next CTAs leave; no_work if none is resident. With
  // `yield`, CTAs leave at their next tile boundary, to let others in (OnePerTile).
  Work next(bool yield) const;
  // Moves on to `clock`; returns how many CTAs left since the last call.
  std::int64_t advance(Work clock, bool yield);

 private:
  struct Group {
    Work start = 0;  // of the tile that its CTAs work on
    Work work = 0;   // that takes
    std::int64_t ctas = 0;

    Work end() const { return start + work; }
  };
  void add(Group group);
  // As many whole rounds as the pool holds, for all groups at once.
  void skip(Work clock);

  GridKind kind_ = GridKind::OnePerTile;
  std::int64_t pool_ = 0;  // tiles that nobody has begun; PersistentStatic: CTAs that are not placed
  std::int64_t unplaced_ = 0;
  std::int64_t working_ = 0;
  std::int64_t long_ctas_ = 0;  // PersistentStatic: CTAs not placed with one tile more
  std::int64_t rounds_ = 0;     // PersistentStatic: tiles of the others
  Work work_ = 0;
  std::vector<Group> groups_;  // by end
};

}  // namespace stave::simulator
