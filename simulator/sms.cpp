#include "simulator/sms.h"

#include <algorithm>
#include <cassert>

namespace stave::simulator {
namespace {

std::uint32_t times(std::uint32_t available, std::uint32_t wanted) {
  return wanted == 0 ? available : available / wanted;
}

}  // namespace

std::uint32_t SmShape::fit(const Footprint& f) const {
  std::uint32_t n = ctas;
  if (f.threads > 0) n = std::min(n, times(threads, f.threads));
  if (f.registers > 0) n = std::min(n, times(registers, f.registers));
  if (f.shared_bytes > 0) n = std::min(n, times(shared_bytes, f.shared_bytes));
  return n;
}

Sms::Sms(const SmShape& shape) : shape_(shape) {
  Group all;
  all.sms = shape.count;
  all.free = shape;
  groups_.push_back(all);
}

std::uint32_t Sms::fit(const Group& group, std::uint32_t owner, const Footprint& footprint) const {
  if (group.owners == max_owners) {
    bool there = false;
    for (const Held& h : group.held) there = there || h.owner == owner;
    if (!there) return 0;
  }
  return group.free.fit(footprint);
}

void Sms::give(Group& group, std::uint32_t owner, const Footprint& f, std::uint32_t ctas) {
  group.free.ctas -= ctas;
  group.free.threads -= ctas * f.threads;
  group.free.registers -= ctas * f.registers;
  group.free.shared_bytes -= ctas * f.shared_bytes;
  std::uint32_t at = 0;
  while (at < group.owners && group.held[at].owner < owner) ++at;
  if (at < group.owners && group.held[at].owner == owner) {
    group.held[at].ctas += ctas;
    return;
  }
  for (std::uint32_t i = group.owners; i > at; --i) group.held[i] = group.held[i - 1];
  group.held[at] = {owner, ctas};
  ++group.owners;
}

void Sms::take(Group& group, std::size_t at, const Footprint& f, std::uint32_t ctas) {
  group.free.ctas += ctas;
  group.free.threads += ctas * f.threads;
  group.free.registers += ctas * f.registers;
  group.free.shared_bytes += ctas * f.shared_bytes;
  group.held[at].ctas -= ctas;
  if (group.held[at].ctas > 0) return;
  for (std::size_t i = at; i + 1 < group.owners; ++i) group.held[i] = group.held[i + 1];
  --group.owners;
}

void Sms::split(std::size_t at, std::uint32_t sms) {
  Group rest = groups_[at];
  rest.sms -= sms;
  groups_[at].sms = sms;
  groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest);
}

void Sms::merge() {
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (std::size_t j = i + 1; j < groups_.size();) {
      const bool same =
          groups_[i].owners == groups_[j].owners &&
          std::equal(groups_[i].held.begin(), groups_[i].held.begin() + groups_[i].owners, groups_[j].held.begin());
      if (!same) {
        ++j;
        continue;
      }
      groups_[i].sms += groups_[j].sms;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

std::uint32_t Sms::place(std::uint32_t owner, const Footprint& footprint, std::uint32_t count) {
  std::uint32_t placed = 0;
  while (placed < count) {
    std::size_t best = 0;
    std::uint32_t most = 0, next = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::uint32_t n = fit(groups_[i], owner, footprint);
      if (n > most) {
        next = most;
        most = n;
        best = i;
      } else {
        next = std::max(next, n);
      }
    }
    if (most == 0) break;
    const std::uint32_t left = count - placed;
    // Down to the level of the next group, one at least.
    std::uint32_t each = std::min(std::max(most - next, 1u), left / groups_[best].sms);
    if (each == 0) {
      split(best, left);
      each = 1;
    }
    give(groups_[best], owner, footprint, each);
    placed += each * groups_[best].sms;
  }
  if (groups_.size() > 1) merge();
  return placed;
}

void Sms::retire(std::uint32_t owner, const Footprint& footprint, std::uint32_t count) {
  const auto held_at = [&](const Group& g) {
    std::size_t at = 0;
    while (at < g.owners && g.held[at].owner != owner) ++at;
    return at;
  };
  while (count > 0) {
    std::size_t best = groups_.size();
    std::uint32_t most = 0, next = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const std::size_t at = held_at(groups_[i]);
      const std::uint32_t n = at < groups_[i].owners ? groups_[i].held[at].ctas : 0;
      if (n > most) {
        next = most;
        most = n;
        best = i;
      } else {
        next = std::max(next, n);
      }
    }
    assert(most > 0);
    if (most == 0) break;
    std::uint32_t each = std::min(std::max(most - next, 1u), count / groups_[best].sms);
    if (each == 0) {
      split(best, count);
      each = 1;
    }
    take(groups_[best], held_at(groups_[best]), footprint, each);
    count -= each * groups_[best].sms;
  }
  if (groups_.size() > 1) merge();
}

std::uint32_t Sms::resident(std::uint32_t owner) const {
  std::uint32_t sum = 0;
  for (const Group& g : groups_)
    for (std::uint32_t i = 0; i < g.owners; ++i)
      if (g.held[i].owner == owner) sum += g.held[i].ctas * g.sms;
  return sum;
}

std::uint32_t Sms::held() const {
  std::uint32_t held = shape_.count;
  for (const Group& group : groups_)
    if (group.owners == 0) held -= group.sms;
  return held;
}

}  // namespace stave::simulator
