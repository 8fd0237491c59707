// The texts of one format in what the user named: a file, a gzip file, a tar or
// tar.gz archive of such files, or a folder of them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/timeline/rows.h"
#include "profiles/import/byte_source.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// One text while it is read. `archive` is the file it stands in.
struct TraceText {
  std::string name;     // without folders
  std::string display;  // for messages: the path, or "archive.tar.gz:name"
  std::uint32_t source = 0;
  ByteSource* bytes = nullptr;
};

class TraceTexts {
 public:
  // `suffixes`: how names of the format's files end, ".json"; they live as long
  // as this. Folders become such files in them, also with .gz behind, and archives, by name.
  static Result<TraceTexts> find(std::span<const std::string> paths, std::span<const std::string_view> suffixes);

  // One text after the other; call it as often as needed, the order is the same.
  // Read a text to its end, or leave it; a damaged archive or gzip file ends
  // its text early and calls `damaged`. `bytes_read` counts bytes of the files.
  Result<void> each(const std::function<Result<void>(const TraceText&)>& visit,
                    const std::function<void(const std::string& file, const Problem& why)>& damaged,
                    std::atomic<std::int64_t>* bytes_read = nullptr);

  // One for each file. Hashes are known after each().
  std::vector<SourceInfo> sources(std::string_view format = "") const;
  std::int64_t total_bytes() const { return total_bytes_; }
  // Traces of other formats in the folders: how many of each ending.
  void count_unread(std::string_view format, ProblemCounts& problems) const;

 private:
  std::span<const std::string_view> suffixes_;
  std::vector<std::string> files_;
  std::vector<FileFacts> facts_;
  std::int64_t total_bytes_ = 0;
  std::map<std::string, std::int64_t> unread_;  // by the end of their names
  std::string unread_folder_;                   // the first
};

}  // namespace stave
