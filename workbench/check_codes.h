// What each code of a check stands for, in words that need no other page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/problem.h"

namespace stave {

// docs/checks.md has a section for each, under the same title.
struct CheckCode {
  std::string_view code;
  Severity severity = Severity::Error;
  std::string_view title;    // a few words
  std::string_view meaning;  // one or two sentences
};

std::span<const CheckCode> check_codes();  // ascending
const CheckCode* find_check_code(std::string_view code);
// Of its section in docs/checks.md, "STV1001: a race", as Markdown viewers make it: "stv1001-a-race".
std::string anchor_of(const CheckCode& code);

}  // namespace stave
