// Execution traces of MLCommons Chakra: a file, gzip, tar, or a folder, one file a rank.
//
// Codes: STV0772 no node has a start: a graph, not a timeline.
#pragma once

#include "profiles/import/importer.h"

namespace stave {

bool is_chakra(std::string_view head);
Result<std::unique_ptr<Import>> open_chakra(std::span<const std::string> paths, const ImportOptions& options,
                                            Progress* progress);

}  // namespace stave
