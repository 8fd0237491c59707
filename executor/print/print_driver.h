// Runs nothing: a step's report holds the issue form of each class.
#pragma once

#include <memory>

#include "executor/driver.h"

namespace stave {

std::unique_ptr<Driver> create_print_driver();

}  // namespace stave
