// How competing activities share what is scarce. A model is a row of the table
// in network_models.cpp and a file in network_models/.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stave::simulator {

enum class ResourceKind : std::uint8_t { Memory, L2, Power, Link, Pcie };

// Classes and resources that depend on each other, by position.
struct Component {
  struct Part {
    std::uint32_t resource = 0;
    std::uint64_t contribution = 0;  // of the capacity, at full rate
  };
  struct Class {
    std::uint64_t cap = 0;    // the rate it wants
    std::uint64_t rate = 0;   // the rate it gets
    std::uint32_t first = 0;  // of its parts
    std::uint32_t count = 0;
  };
  struct Resource {
    std::uint64_t left = 0;  // capacity that is not given away
    std::uint64_t sum = 0;   // contributions of classes without a rate
    std::uint64_t level = 0;
    bool stale = false;
  };
  std::vector<Class> classes;
  std::vector<Part> parts;
  std::vector<Resource> resources;
  std::vector<std::uint32_t> users, first_user, low, full;  // the model's own

  void clear() {
    classes.clear();
    parts.clear();
    resources.clear();
  }
};

struct NetworkModel {
  std::string_view name;
  std::string_view summary;
  bool (*shares)(ResourceKind kind);        // false: the resource never slows anything
  void (*set_rates)(Component& component);  // fills Class::rate, 1 at least
};

std::span<const NetworkModel> network_models();
const NetworkModel* network_model_named(std::string_view name);

// Progressive filling, network_models/max_min.cpp.
void max_min(Component& component);

}  // namespace stave::simulator
