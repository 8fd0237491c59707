// The IR reference in Markdown, made from the op table. `stave docs` writes it to docs/ir.md.
#pragma once

#include <string>

namespace stave {

std::string ir_reference();

}  // namespace stave
