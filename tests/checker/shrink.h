// Makes a schedule smaller as long as it keeps a property.
#pragma once

#include <functional>
#include <string>

namespace stave {

// Drops statements, blocks with what they hold, the borders of blocks and formals, one
// statement a line, until nothing more can go. `keeps` also has to refuse what does not verify.
std::string shrink(std::string text, const std::function<bool(const std::string&)>& keeps);

}  // namespace stave
