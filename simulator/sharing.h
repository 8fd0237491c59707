// Who gets how much of what: activities that use the same resources slow each
// other down. Activities with equal uses form one class with one clock.
//
// A class wants to run at full rate (or at its cap). A use says which part of a
// resource's capacity one member takes at full rate. Rates are set by a network
// model (network_models.h) so that no resource is above its capacity.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/clock.h"
#include "simulator/network_models.h"

namespace stave::simulator {

// Capacity of every resource; a use is a part of it, rounded up.
inline constexpr std::uint64_t whole = std::uint64_t{1} << 30;
// A multiplier of one member.
inline constexpr std::uint64_t one_member = std::uint64_t{1} << 20;

struct Use {
  std::uint32_t resource = 0;
  std::uint32_t amount = 0;  // of `whole`, at full rate, for one member
};

// A part of a resource as an amount: rounded up, and no more than all of it.
std::uint32_t amount_of(double fraction);

class Sharing {
 public:
  explicit Sharing(const NetworkModel& model) : model_(model) {}

  std::uint32_t add_resource(ResourceKind kind);

  // A class without members, at the cap of full rate. Two uses of one resource add up.
  std::uint32_t open(std::span<const Use> uses, std::int64_t now);
  void close(std::uint32_t id);

  // `members` in units of `one_member`; fractions are parts of an activity.
  void set_members(std::uint32_t id, std::uint64_t members);
  void set_cap(std::uint32_t id, std::uint64_t cap);
  // How much faster than the rate each member gets on: a 16-bit binary fraction.
  void set_boost(std::uint32_t id, std::uint32_t boost, std::int64_t now);

  std::uint64_t rate(std::uint32_t id) const { return classes_[id].rate; }
  std::uint64_t pace(std::uint32_t id) const { return pace(classes_[id]); }
  // The work that each member has behind it since the class was opened.
  Work progress(std::uint32_t id, std::int64_t now) const {
    const Class& c = classes_[id];
    return c.clock + (now > c.since ? work_in(now - c.since, pace(c)) : 0);
  }

  bool dirty() const { return !dirty_classes_.empty() || !touched_.empty(); }
  // New rates for all that depends on what changed. Returns the classes whose
  // rate changed, in an order that the calls before determine.
  std::span<const std::uint32_t> solve(std::int64_t now);

  // Part of the capacity in use, of `whole`.
  std::uint64_t load(std::uint32_t resource) const;
  std::size_t resources() const { return resources_.size(); }
  // Whether those who use it together can slow each other.
  bool shares(std::uint32_t resource) const { return model_.shares(resources_[resource].kind); }

 private:
  struct Part {
    std::uint32_t resource;
    std::uint32_t amount;
    std::uint64_t contribution = 0;  // of all members at full rate
  };
  struct Class {
    std::vector<Part> parts;
    std::uint64_t members = 0;
    std::uint64_t cap = full_pace;
    std::uint64_t rate = full_pace;
    std::uint32_t boost = 1 << 16;
    std::uint32_t visit = 0;
    std::int64_t since = 0;
    Work clock = 0;
    bool dirty = false;
    bool open = false;
  };
  struct Resource {
    std::vector<std::uint32_t> classes;
    std::uint64_t wanted = 0;  // if every class ran at its cap
    std::uint32_t visit = 0;
    std::uint32_t slot = 0;
    ResourceKind kind;
    bool bound = false;  // it was short when last solved
    bool touched = false;
  };

  static std::uint64_t pace(const Class& c) {
    return c.boost == 1 << 16 ? c.rate
                              : static_cast<std::uint64_t>((static_cast<unsigned __int128>(c.rate) * c.boost) >> 16);
  }
  static std::uint64_t used(std::uint64_t contribution, std::uint64_t rate) {
    return rate == full_pace ? contribution
                             : static_cast<std::uint64_t>(
                                   (static_cast<unsigned __int128>(contribution) * rate + full_pace - 1) >> 32);
  }
  bool couples(const Resource& r) const { return r.bound || (r.wanted > whole && model_.shares(r.kind)); }
  void want(Part& part, std::uint64_t before, std::uint64_t after);
  void mark(std::uint32_t id);
  void settle(Class& c, std::int64_t now) {
    if (now <= c.since) return;
    c.clock += work_in(now - c.since, pace(c));
    c.since = now;
  }
  void set_rate(std::uint32_t id, std::uint64_t rate, std::int64_t now);
  void gather(std::uint32_t id);
  void solve_from(std::uint32_t id, std::int64_t now);
  void fill_component();
  void unbind(Resource& r);

  const NetworkModel& model_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> free_;
  std::vector<Resource> resources_;
  std::vector<std::uint32_t> dirty_classes_, touched_, changed_;
  std::vector<std::uint32_t> component_classes_, component_resources_;
  // The component that was solved last stays as it is until somebody comes or
  // goes, or a resource gets or stops being short: then `structure_` counts up.
  Component component_;
  std::uint64_t structure_ = 1;
  std::uint64_t gathered_structure_ = 0;
  std::uint32_t gathered_visit_ = 0;
  std::uint32_t visit_ = 0;
};

}  // namespace stave::simulator
