// Imports bytes as a file would be, into memory, and checks what must hold whatever they are.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/timeline/timeline.h"
#include "profiles/import/importer.h"

namespace stave {

inline void import_bytes(const std::uint8_t* data, std::size_t size, const char* name) {
  static const std::string path = [name] {
    std::string pattern = std::string("/tmp/stave-fuzz-") + name + "-XXXXXX";
    const int file = ::mkstemp(pattern.data());
    if (file < 0) std::abort();
    ::close(file);
    return pattern;
  }();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, size, file) != size) std::abort();
  std::fclose(file);
  const std::string paths[] = {path};
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
