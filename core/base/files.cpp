#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace stave {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > 2) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Failure cannot(std::string_view code, std::string_view verb, const std::string& path, std::string_view why) {
  return error_at({.file = path}, code, "cannot {}: {}", verb, why);
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(path == "-" ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return cannot("STV0001", "read", path, std::strerror(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return cannot("STV0001", "read", path, std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return cannot("STV0001", "read", path, "it is a folder");
  std::string content;
  if (S_ISREG(info.st_mode)) content.reserve(std::min<std::size_t>(static_cast<std::size_t>(info.st_size), limit) + 1);
  std::size_t filled = 0;
  while (true) {
    constexpr std::size_t piece = 1 << 20;
    content.resize(filled + piece);
    const ssize_t n = ::read(file.get(), content.data() + filled, piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("STV0001", "read", path, std::strerror(errno));
    filled += static_cast<std::size_t>(n);
    if (filled > limit) return cannot("STV0001", "read", path, fmt::format("it is larger than {} bytes", limit));
    if (n == 0) break;
  }
  content.resize(filled);
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0)
      return cannot("STV0002", "write", "standard output", std::strerror(errno));
    return {};
  }
  // A device or a pipe takes the bytes as they come; renaming over it would destroy it.
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) {
    const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0 || !write_all(device.get(), content))
      return cannot("STV0002", "write", path, std::strerror(errno));
    return {};
  }
  const std::string partial = path + ".partial";
  const auto fail = [&] {
    const std::string why = std::strerror(errno);
    ::unlink(partial.c_str());
    return cannot("STV0002", "write", path, why);
  };
  {
    const Descriptor file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return cannot("STV0002", "write", path, std::strerror(errno));
    if (!write_all(file.get(), content) || ::fsync(file.get()) != 0) return fail();
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) return fail();
  return {};
}

}  // namespace stave
