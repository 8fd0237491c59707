// Perfetto's traces: track events and render stages of GPUs, in a file, gzip,
// tar, or a folder, one file a rank, or one process a rank where they are named so.
#pragma once

#include "profiles/import/importer.h"

namespace stave {

bool is_perfetto(std::string_view head);
Result<std::unique_ptr<Import>> open_perfetto(std::span<const std::string> paths, const ImportOptions& options,
                                              Progress* progress);

}  // namespace stave
