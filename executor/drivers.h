// All drivers of this build. To add one: a folder beside these, a line in the table.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "executor/driver.h"

namespace stave {

struct DriverEntry {
  std::string_view name;
  std::unique_ptr<Driver> (*create)();
};
std::span<const DriverEntry> drivers();

// For a program with a driver that this library cannot hold, since it links more.
void add_driver(DriverEntry entry);

// Null if there is none of this name.
std::unique_ptr<Driver> driver_named(std::string_view name);

}  // namespace stave
