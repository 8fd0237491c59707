// The exact meaning of a plan on a CPU, all ranks in one process. The default of
// `stave run`, and what other drivers are compared with.
#pragma once

#include <memory>

#include "executor/driver.h"

namespace stave {

std::unique_ptr<Driver> create_reference_driver();

}  // namespace stave
