// Which CTAs are resident on a device. SMs that hold the same stand in one
// group, so that placing a grid costs the number of groups, not of SMs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace stave::simulator {

// What one CTA takes from its SM. All fields count what is really taken, the
// system's part of the shared memory included.
struct Footprint {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;
  std::uint32_t shared_bytes = 0;

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

struct SmShape {
  std::uint32_t count = 1;
  std::uint32_t ctas = 32;
  std::uint32_t threads = 2048;
  std::uint32_t registers = 65536;
  std::uint32_t shared_bytes = 233472;

  // CTAs of this footprint that an empty SM holds.
  std::uint32_t fit(const Footprint& footprint) const;
};

class Sms {
 public:
  explicit Sms(const SmShape& shape);

  // Places up to `count` CTAs of `owner`, the emptiest SMs first (the order in
  // which the hardware fills a device, as far as that is public). Returns how many.
  std::uint32_t place(std::uint32_t owner, const Footprint& footprint, std::uint32_t count);
  // Takes `count` CTAs of `owner` away, from the SMs that hold most of them first.
  void retire(std::uint32_t owner, const Footprint& footprint, std::uint32_t count);

  std::uint32_t resident(std::uint32_t owner) const;
  // SMs that hold a CTA.
  std::uint32_t held() const;
  bool idle() const { return groups_.size() == 1 && groups_[0].owners == 0; }
  const SmShape& shape() const { return shape_; }

 private:
  struct Held {
    std::uint32_t owner = 0;
    std::uint32_t ctas = 0;
    friend bool operator==(const Held&, const Held&) = default;
  };
  // Kernels on one SM at a time. Assumed: a ninth waits.
  static constexpr std::uint32_t max_owners = 8;
  struct Group {
    std::uint32_t sms = 0;
    std::uint32_t owners = 0;
    SmShape free;  // its `count` is unused
    std::array<Held, max_owners> held;
  };

  std::uint32_t fit(const Group& group, std::uint32_t owner, const Footprint& footprint) const;
  static void give(Group& group, std::uint32_t owner, const Footprint& footprint, std::uint32_t ctas);
  static void take(Group& group, std::size_t at, const Footprint& footprint, std::uint32_t ctas);
  // The group at `at` with only `sms` of its SMs; the rest follow it in a group of their own.
  void split(std::size_t at, std::uint32_t sms);
  void merge();

  SmShape shape_;
  std::vector<Group> groups_;
};

}  // namespace stave::simulator
