// A schedule from text, as `a.stave`.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/text/parse.h"
#include "workbench/schedule.h"

namespace stave {

inline Schedule schedule_of(std::string source) {
  Result<Module> module = parse("a.stave", source);
  EXPECT_TRUE(module) << to_text(module.problems()[0], source);
  return {"a.stave", std::move(source), "", std::make_shared<const Module>(*std::move(module))};
}

}  // namespace stave
