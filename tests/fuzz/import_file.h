// Imports bytes as a file would be, into memory, and checks what must hold whatever they are.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/timeline/timeline.h"
#include "profiles/import/importer.h"
#include "tests/temp_folder.h"

namespace stave {

inline void import_bytes(const std::uint8_t* data, std::size_t size, const char* name) {
  static const TempFolder folder;
  static const std::string path = folder / name;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size) std::abort();
  std::fclose(file);
  const std::vector<std::string> paths{path};
  const Result<const Importer*> importer = find_importer(paths);
  if (!importer) return;
  const Result<std::unique_ptr<Import>> import = (*importer)->open(paths, {}, nullptr);
  if (!import) return;
  Timeline timeline;
  const Result<ImportReport> report = (*import)->read(timeline, nullptr);
  // A sink refuses rows that break its rules: no bytes may lead to such rows.
  if (!report) {
    std::fputs(to_text(report.problems().front()).c_str(), stderr);
    std::abort();
  }
  if (static_cast<std::int64_t>(timeline.slices().size()) != report->slices) std::abort();
}

}  // namespace stave
