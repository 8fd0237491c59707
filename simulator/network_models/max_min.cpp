// Relative max-min fairness by progressive filling: all rates rise together; a
// class stops at its cap, or when a resource that it uses is full.
#include <algorithm>
#include <limits>

#include "simulator/clock.h"
#include "simulator/network_models.h"
#include "simulator/sharing.h"

namespace stave::simulator {
namespace {

constexpr std::uint64_t no_level = std::numeric_limits<std::uint64_t>::max();

void fix(Component& component, Component::Class& c, std::uint64_t rate) {
  c.rate = std::max<std::uint64_t>(rate, 1);
  for (std::uint32_t p = c.first; p < c.first + c.count; ++p) {
    const Component::Part& part = component.parts[p];
    Component::Resource& r = component.resources[part.resource];
    const auto taken =
        static_cast<std::uint64_t>((static_cast<unsigned __int128>(part.contribution) * c.rate + full_pace - 1) >> 32);
    r.left -= std::min(r.left, taken);
    r.sum -= part.contribution;
    r.stale = true;
  }
}

}  // namespace

void max_min(Component& component) {
  static_assert(whole <= std::uint64_t{1} << 31, "left << 32 must fit");
  auto& classes = component.classes;
  auto& parts = component.parts;
  auto& resources = component.resources;
  auto& users = component.users;
  auto& first_user = component.first_user;
  auto& low = component.low;
  auto& full = component.full;
  // Who uses what: classes by resource.
  first_user.assign(resources.size() + 1, 0);
  for (const Component::Part& part : parts) ++first_user[part.resource + 1];
  for (std::size_t r = 0; r < resources.size(); ++r) first_user[r + 1] += first_user[r];
  users.resize(parts.size());
  low.clear();
  for (Component::Resource& r : resources) r.stale = true;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    Component::Class& c = classes[i];
    c.rate = 0;
    for (std::uint32_t p = c.first; p < c.first + c.count; ++p) users[first_user[parts[p].resource]++] = i;
    low.push_back(i);
  }
  for (std::size_t r = resources.size(); r > 0; --r) first_user[r] = first_user[r - 1];
  first_user[0] = 0;
  // Lowest cap last: those that stop at their cap leave from the end.
  const auto higher = [&](std::uint32_t x, std::uint32_t y) { return classes[x].cap > classes[y].cap; };
  if (!std::is_sorted(low.begin(), low.end(), higher)) std::sort(low.begin(), low.end(), higher);
  for (;;) {
    std::uint64_t level = no_level;
    for (Component::Resource& r : resources) {
      if (r.stale) {
        r.level = r.sum > 0 ? (r.left << 32) / r.sum : no_level;
        r.stale = false;
      }
      level = std::min(level, r.level);
    }
    // A class below the level takes less than its share, so the level of the others can only rise.
    bool capped = false;
    while (!low.empty() && (classes[low.back()].rate != 0 || classes[low.back()].cap <= level)) {
      if (Component::Class& c = classes[low.back()]; c.rate == 0) {
        fix(component, c, c.cap);
        capped = true;
      }
      low.pop_back();
    }
    if (low.empty()) return;
    if (capped) continue;
    // All that is full at this level stops at once, before any of it is taken off: equal ranks stay equal.
    full.clear();
    for (std::uint32_t r = 0; r < resources.size(); ++r)
      if (resources[r].level == level) full.push_back(r);
    for (const std::uint32_t r : full)
      for (std::uint32_t u = first_user[r]; u < first_user[r + 1]; ++u)
        if (Component::Class& c = classes[users[u]]; c.rate == 0) fix(component, c, level);
  }
}

}  // namespace stave::simulator
