#include "profiles/export/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stave {

Result<OutputFile> OutputFile::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return error_at({.file = path}, "STV0002", "cannot write: {}", std::strerror(errno));
  return OutputFile(path, file);
}

void OutputFile::flush() {
  if (error_ == 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) error_ = errno;
  buffer_.clear();
}

Result<void> OutputFile::close() {
  flush();
  if (error_ == 0 && std::fflush(file_.get()) != 0) error_ = errno;
  if (error_ != 0) return error_at({.file = path_}, "STV0002", "cannot write: {}", std::strerror(error_));
  return {};
}

}  // namespace stave
