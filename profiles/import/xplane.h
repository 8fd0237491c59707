// Profiles of XLA (JAX, TensorFlow): XSpace messages in a file, gzip, tar, or
// a folder, one a process; each of its devices is a rank.
#pragma once

#include "profiles/import/importer.h"

namespace stave {

bool is_xplane(std::string_view head);
Result<std::unique_ptr<Import>> open_xplane(std::span<const std::string> paths, const ImportOptions& options,
                                            Progress* progress);

}  // namespace stave
