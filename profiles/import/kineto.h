// Kineto's and Chrome's JSON traces: a file, gzip, tar, or a folder, one text a rank.
#pragma once

#include "profiles/import/importer.h"

namespace stave {

bool is_chrome_json(std::string_view head);
Result<std::unique_ptr<Import>> open_chrome_json(std::span<const std::string> paths, const ImportOptions& options,
                                                 Progress* progress);

}  // namespace stave
