// What the tests of expansion and verification share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/ir/expanded.h"
#include "core/text/parse.h"

namespace stave {

// The module, even if the parser objects: expansion must not rely on the parser.
inline std::shared_ptr<const Module> module_of(std::string_view text) {
  return std::make_shared<const Module>(parse_all("t.stave", text).module);
}

inline std::string texts(const Problems& problems) {
  std::string out;
  for (const Problem& p : problems) out += to_text(p);
  return out;
}

// The only entry of a schedule that must expand.
inline Expanded expanded(std::string_view text, const ExpandOptions& options = {}) {
  auto result = expand(module_of(text), options);
  EXPECT_TRUE(result) << (result ? "" : texts(result.problems()));
  if (!result || result->classes.size() != 1) return {};
  return std::move(result->classes[0]);
}

// The code of the first problem of expand; empty if there is none.
inline std::string code_of(std::string_view text, const ExpandOptions& options = {}) {
  const auto result = expand(module_of(text), options);
  return result ? "" : result.problems()[0].code;
}

}  // namespace stave
