// Nsight Systems' SQLite exports, read in place.
#pragma once

#include "profiles/import/importer.h"

namespace stave {

bool is_sqlite(std::string_view head);
// `paths`: each a database; one with several processes has several ranks.
Result<std::unique_ptr<Import>> open_nsys(std::span<const std::string> paths, const ImportOptions& options,
                                          Progress* progress);

}  // namespace stave
