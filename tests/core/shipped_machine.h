// The machine files that Stave comes with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "core/machine/machine.h"

namespace stave {

inline Machine shipped(const std::string& name) {
  auto machine = load_machine(std::string(STAVE_SOURCE_DIR) + "/machines/" + name + ".toml");
  if (!machine) {
    for (const Problem& p : machine.problems()) ADD_FAILURE() << to_text(p);
    std::abort();
  }
  return *std::move(machine);
}

inline const Machine& h200_x2() {
  static const Machine machine = shipped("h200-x2");
  return machine;
}

}  // namespace stave
