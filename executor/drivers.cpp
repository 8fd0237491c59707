#include "executor/drivers.h"

#include "executor/print/print_driver.h"
#include "executor/reference/reference_driver.h"

namespace stave {

std::span<const DriverEntry> drivers() {
  static constexpr DriverEntry entries[] = {
      {"reference", create_reference_driver},
      {"print", create_print_driver},
  };
  return entries;
}

std::unique_ptr<Driver> driver_named(std::string_view name) {
  for (const DriverEntry& entry : drivers())
    if (entry.name == name) return entry.create();
  return nullptr;
}

}  // namespace stave
