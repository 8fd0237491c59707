// The two kinds of file that can be scrubbed. Used by scrub.cpp only.
#pragma once

#include "profiles/store_reader.h"
#include "workbench/scrub.h"

namespace stave {

Result<void> scrub_run_file(StoreReader& reader, const std::string& output, Scrubbed& scrubbed, Progress* progress);
Result<void> scrub_nsys_file(const std::string& input, const std::string& output, Scrubbed& scrubbed,
                             Progress* progress);

}  // namespace stave
