// A file that is written from its begin to its end. Code STV0002: the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stave {

class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  // What goes wrong shows in close().
  OutputFile& operator<<(std::string_view text) {
    if (buffer_.size() + text.size() > buffer_bytes) flush();
    buffer_ += text;
    return *this;
  }
  Result<void> close();

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  OutputFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void flush();

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string buffer_;
  int error_ = 0;
};

}  // namespace stave
