#include "simulator/sharing.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stave::simulator {

std::uint32_t amount_of(double fraction) {
  if (!(fraction > 0)) return 0;
  return static_cast<std::uint32_t>(std::ceil(std::min(fraction, 1.0) * static_cast<double>(whole)));
}

std::uint32_t Sharing::add_resource(ResourceKind kind) {
  resources_.emplace_back().kind = kind;
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

std::uint32_t Sharing::open(std::span<const Use> uses, std::int64_t now) {
  ++structure_;
  std::uint32_t id;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(classes_.size());
    classes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Class& c = classes_[id];
  c.parts.clear();
  c.members = 0;
  c.cap = c.rate = full_pace;
  c.boost = 1 << 16;
  c.since = now;
  c.clock = 0;
  c.open = true;
  for (const Use& use : uses) {
    if (use.amount == 0) continue;
    auto& users = resources_[use.resource].classes;
    if (!users.empty() && users.back() == id) {
      std::find_if(c.parts.begin(), c.parts.end(), [&](const Part& p) { return p.resource == use.resource; })->amount +=
          use.amount;
      continue;
    }
    c.parts.push_back({use.resource, use.amount});
    users.push_back(id);
  }
  return id;
}

void Sharing::close(std::uint32_t id) {
  set_members(id, 0);
  ++structure_;
  Class& c = classes_[id];
  for (const Part& part : c.parts) {
    auto& users = resources_[part.resource].classes;
    users.erase(std::find(users.begin(), users.end(), id));
  }
  c.open = false;
  free_.push_back(id);
}

void Sharing::want(Part& part, std::uint64_t before, std::uint64_t after) {
  Resource& r = resources_[part.resource];
  const bool coupled = couples(r);
  r.wanted += after - before;
  const bool couples_now = couples(r);
  if (coupled != couples_now) ++structure_;
  if (!r.touched && couples_now) {
    r.touched = true;
    touched_.push_back(part.resource);
  }
}

void Sharing::mark(std::uint32_t id) {
  if (classes_[id].dirty) return;
  classes_[id].dirty = true;
  dirty_classes_.push_back(id);
}

void Sharing::set_members(std::uint32_t id, std::uint64_t members) {
  Class& c = classes_[id];
  if (c.members == members) return;
  c.members = members;
  for (Part& part : c.parts) {
    const std::uint64_t before = used(part.contribution, c.cap);
    part.contribution = static_cast<std::uint64_t>(
        (static_cast<unsigned __int128>(part.amount) * members + one_member - 1) / one_member);
    want(part, before, used(part.contribution, c.cap));
  }
  mark(id);
}

void Sharing::set_cap(std::uint32_t id, std::uint64_t cap) {
  Class& c = classes_[id];
  if (c.cap == cap) return;
  const std::uint64_t old = c.cap;
  c.cap = cap;
  for (Part& part : c.parts) want(part, used(part.contribution, old), used(part.contribution, cap));
  mark(id);
}

void Sharing::set_boost(std::uint32_t id, std::uint32_t boost, std::int64_t now) {
  Class& c = classes_[id];
  if (c.boost == boost) return;
  settle(c, now);
  c.boost = boost;
}

void Sharing::set_rate(std::uint32_t id, std::uint64_t rate, std::int64_t now) {
  Class& c = classes_[id];
  if (c.rate == rate) return;
  settle(c, now);
  c.rate = rate;
  changed_.push_back(id);
}

void Sharing::gather(std::uint32_t start) {
  const auto add_class = [&](std::uint32_t id) {
    Class& c = classes_[id];
    if (c.visit == visit_) return;
    c.visit = visit_;
    component_classes_.push_back(id);
  };
  component_classes_.clear();
  component_resources_.clear();
  add_class(start);
  for (std::size_t i = 0; i < component_classes_.size(); ++i)
    for (const Part& part : classes_[component_classes_[i]].parts) {
      Resource& r = resources_[part.resource];
      if (r.visit == visit_ || !couples(r)) continue;
      r.visit = visit_;
      r.slot = static_cast<std::uint32_t>(component_resources_.size());
      component_resources_.push_back(part.resource);
      for (const std::uint32_t other : r.classes) add_class(other);
    }
  component_.clear();
  component_.resources.resize(component_resources_.size());
  for (const std::uint32_t member : component_classes_) {
    const auto first = static_cast<std::uint32_t>(component_.parts.size());
    for (const Part& part : classes_[member].parts)
      if (const Resource& r = resources_[part.resource]; r.visit == visit_) component_.parts.push_back({r.slot, 0});
    component_.classes.push_back({0, 0, first, static_cast<std::uint32_t>(component_.parts.size()) - first});
  }
}

// The same classes and resources as when they were gathered, with what they want now.
void Sharing::fill_component() {
  for (Component::Resource& r : component_.resources) {
    r.left = whole;
    r.sum = 0;
  }
  for (std::size_t i = 0; i < component_classes_.size(); ++i) {
    const Class& c = classes_[component_classes_[i]];
    component_.classes[i].cap = c.cap;
    std::uint32_t at = component_.classes[i].first;
    const bool all = component_.classes[i].count == c.parts.size();
    for (const Part& part : c.parts) {
      if (!all && resources_[part.resource].visit != visit_) continue;
      Component::Part& into = component_.parts[at++];
      into.contribution = part.contribution;
      component_.resources[into.resource].sum += part.contribution;
    }
  }
}

void Sharing::unbind(Resource& r) {
  const bool coupled = couples(r);
  r.bound = r.wanted > whole && model_.shares(r.kind);
  if (coupled != couples(r)) ++structure_;
}

void Sharing::solve_from(std::uint32_t id, std::int64_t now) {
  if (classes_[id].visit == visit_ || !classes_[id].open) return;
  if (gathered_structure_ == structure_ && classes_[id].visit == gathered_visit_) {
    for (const std::uint32_t c : component_classes_) classes_[c].visit = visit_;
    for (const std::uint32_t r : component_resources_) resources_[r].visit = visit_;
  } else {
    gather(id);
  }
  gathered_structure_ = structure_;
  gathered_visit_ = visit_;
  if (component_resources_.empty()) {
    set_rate(id, classes_[id].cap, now);
    return;
  }
  fill_component();
  model_.set_rates(component_);
  for (std::size_t i = 0; i < component_classes_.size(); ++i)
    set_rate(component_classes_[i], component_.classes[i].rate, now);
  for (const std::uint32_t r : component_resources_) unbind(resources_[r]);
}

std::span<const std::uint32_t> Sharing::solve(std::int64_t now) {
  changed_.clear();
  if (!dirty()) return changed_;
  ++visit_;
  for (const std::uint32_t id : dirty_classes_) {
    classes_[id].dirty = false;
    solve_from(id, now);
  }
  for (const std::uint32_t id : touched_) {
    Resource& r = resources_[id];
    r.touched = false;
    for (const std::uint32_t c : r.classes) solve_from(c, now);
    // With nobody left on it there is no component to say so.
    unbind(r);
  }
  dirty_classes_.clear();
  touched_.clear();
  return changed_;
}

std::uint64_t Sharing::load(std::uint32_t resource) const {
  unsigned __int128 sum = 0;
  for (const std::uint32_t id : resources_[resource].classes) {
    const Class& c = classes_[id];
    for (const Part& part : c.parts)
      if (part.resource == resource) sum += static_cast<unsigned __int128>(part.contribution) * c.rate;
  }
  return static_cast<std::uint64_t>((sum + full_pace - 1) >> 32);
}

}  // namespace stave::simulator
