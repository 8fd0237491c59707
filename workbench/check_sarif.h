// Findings as SARIF 2.1.0 (OASIS), which code-scanning services and editors read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "workbench/check.h"

namespace stave {

// A file that cannot be opened, so that its problems are results, too. It has no module.
CheckedFile unopened(const std::string& path, const Problems& problems);

// One run with all results, in the order of `files`. File names become URIs relative to the current folder; columns
// count Unicode characters. `docs_uri` is where docs/ is published, with a slash at its end: rules then link there.
std::string check_sarif(std::span<const CheckedFile> files, std::string_view docs_uri);

}  // namespace stave
