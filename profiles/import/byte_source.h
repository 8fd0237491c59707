// Bytes that come in order: a file, what a gzip file holds, and both read ahead
// on a thread of their own.
//
// Codes: STV0001 cannot read, STV0734 damaged gzip or tar.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace stave {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills from the front, as far as there is something; 0 only at the end. Ask until then.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

// Of the file itself, not of what is packed in it; known once it was read to its end.
struct FileFacts {
  std::string sha256{};
  std::int64_t bytes = 0;
};

// A file's bytes; those of a gzip file decompressed. `facts`, if not null, is
// filled at the end, and must live as long as the source. `bytes_read` counts
// the file's own bytes, for a progress line.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path, FileFacts* facts = nullptr,
                                               std::atomic<std::int64_t>* bytes_read = nullptr);

// The same, made on another thread, at most 4 MiB ahead.
std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source);

}  // namespace stave
