// Module to text, in the one canonical form that `stave fmt` writes: two spaces a
// level, few parentheses, lines of up to 100 columns where attributes can be
// broken. parse(print(m)) == m for every module that keeps the rules of
// core/ir/module.h and has non-negative decimal integers and finite floats in
// its expressions (a minus is a node of its own); the builder makes only such.
#pragma once

#include <string>
#include <string_view>

#include "core/ir/module.h"

namespace stave {

std::string print(const Module& module);

// One statement without its comments and regions: `gemm %a, %b -> %c`. For messages and lists.
std::string print_statement(const Module& module, const Op& op);

// An expression or attribute value.
std::string print_expr(const Module& module, ExprId id);

// The shortest decimal that reads back as `v`, with a dot: 1.0, 2.5e-3.
std::string float_text(double v);

// A string with quotes: """ if it has several lines and can stand so, " with escapes otherwise.
std::string string_text(std::string_view value);

}  // namespace stave
