// Schedules that `stave new` writes to start from.
#pragma once

#include <span>
#include <string_view>

namespace stave {

struct Template {
  std::string_view name;
  std::string_view summary;
  std::string_view text;
};
std::span<const Template> templates();

}  // namespace stave
