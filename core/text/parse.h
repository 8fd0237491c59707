// Text to module. Grammar and examples: docs/ir.md, made by `stave docs`.
//
// Limits: a file has less than 4 GiB; regions, brackets and expressions nest up
// to 256 deep; a decimal integer is at most 2^63 - 1; a hexadecimal one is a
// pattern of up to 64 bits (0xffffffffffffffff is -1 as a signed number).
// Codes: STV0100-0199.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/ir/module.h"

namespace stave {

inline constexpr std::uint32_t max_nesting = 256;
inline constexpr std::size_t max_parse_problems = 20;

// What is right in a text that may have mistakes: statements that could not be
// read are left out, and the module may break rules that a problem names.
struct Parsed {
  Module module;
  Problems problems;
};
Parsed parse_all(std::string file_name, std::string_view text);

// The module, or all problems found, up to 20.
Result<Module> parse(std::string file_name, std::string_view text);

}  // namespace stave
