#include "simulator/tiles.h"

#include <algorithm>
#include <cassert>

namespace stave::simulator {

void Tiles::start(GridKind kind, std::int64_t tiles, std::int64_t ctas, Work work) {
  assert(tiles > 0 && ctas > 0 && work >= 0);
  kind_ = kind;
  work_ = std::max<Work>(work, 1);
  working_ = 0;
  groups_.clear();
  ctas = std::min(ctas, tiles);
  if (kind == GridKind::PersistentStatic) {
    rounds_ = tiles / ctas;
    long_ctas_ = tiles % ctas;
    pool_ = unplaced_ = ctas;
  } else {
    pool_ = tiles;
    unplaced_ = kind == GridKind::PersistentDynamic ? ctas : tiles;
  }
}

std::int64_t Tiles::waiting() const { return std::min(unplaced_, pool_); }

void Tiles::add(Group group) {
  const auto at = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.end() >= group.end(); });
  if (at != groups_.end() && at->end() == group.end() && at->start == group.start)
    at->ctas += group.ctas;
  else
    groups_.insert(at, group);
}

void Tiles::place(std::int64_t ctas, Work clock) {
  assert(ctas <= waiting());
  if (ctas == 0) return;
  pool_ -= ctas;
  if (kind_ == GridKind::PersistentStatic || kind_ == GridKind::PersistentDynamic) unplaced_ -= ctas;
  working_ += ctas;
  if (kind_ != GridKind::PersistentStatic) {
    add({clock, work_, ctas});
    return;
  }
  const std::int64_t more = std::min(ctas, long_ctas_);
  long_ctas_ -= more;
  if (more > 0) add({clock, work_ * (rounds_ + 1), more});
  if (ctas > more) add({clock, work_ * rounds_, ctas - more});
}

Work Tiles::next(bool yield) const {
  if (groups_.empty()) return no_work;
  const bool pooled = kind_ == GridKind::OnePerTile || kind_ == GridKind::PersistentDynamic;
  if (!pooled || pool_ == 0 || (yield && kind_ == GridKind::OnePerTile)) return groups_.front().end();
  // Whole rounds of all groups, then one group after the other until the pool is empty.
  const std::int64_t rounds = pool_ / working_;
  std::int64_t left = pool_ % working_;
  for (const Group& g : groups_) {
    if (left < g.ctas) return g.end() + rounds * work_;
    left -= g.ctas;
  }
  return groups_.front().end() + rounds * work_;
}

void Tiles::skip(Work clock) {
  if (groups_.empty() || clock < groups_.front().end()) return;
  const std::int64_t rounds = std::min(pool_ / working_, (clock - groups_.front().end()) / work_);
  if (rounds <= 0) return;
  pool_ -= rounds * working_;
  for (Group& g : groups_) g.start += rounds * work_;
}

std::int64_t Tiles::advance(Work clock, bool yield) {
  std::int64_t left = 0;
  const bool pooled = kind_ == GridKind::OnePerTile || kind_ == GridKind::PersistentDynamic;
  const bool leave = yield && kind_ == GridKind::OnePerTile;
  if (pooled && !leave) skip(clock);
  while (!groups_.empty() && groups_.front().end() <= clock) {
    Group g = groups_.front();
    groups_.erase(groups_.begin());
    const std::int64_t go_on = pooled && !leave ? std::min(g.ctas, pool_) : 0;
    left += g.ctas - go_on;
    working_ -= g.ctas - go_on;
    if (go_on == 0) continue;
    pool_ -= go_on;
    add({g.end(), work_, go_on});
  }
  return left;
}

}  // namespace stave::simulator
