// Whole files. Codes: STV0001 cannot read, STV0002 cannot write.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stave {

inline constexpr std::size_t max_file_bytes = std::size_t{4} << 30;

// "-" is standard input. A folder, a missing file, or one over `limit` bytes is an error.
Result<std::string> read_file(const std::string& path, std::size_t limit = max_file_bytes);

// Writes NAME.partial, flushes it to the disk, then renames: a reader never
// sees half a file under the final name. "-" is standard output.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace stave
