#include "executor/drivers.h"

#include <vector>

#include "executor/print/print_driver.h"
#include "executor/reference/reference_driver.h"

namespace stave {
namespace {

std::vector<DriverEntry>& entries() {
  static std::vector<DriverEntry> all = {
      {"reference", create_reference_driver},
      {"print", create_print_driver},
  };
  return all;
}

}  // namespace

std::span<const DriverEntry> drivers() { return entries(); }

void add_driver(DriverEntry entry) { entries().push_back(entry); }

std::unique_ptr<Driver> driver_named(std::string_view name) {
  for (const DriverEntry& entry : drivers())
    if (entry.name == name) return entry.create();
  return nullptr;
}

}  // namespace stave
