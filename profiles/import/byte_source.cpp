#include "profiles/import/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/sha256.h"

namespace stave {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;

class FileBytes final : public ByteSource {
 public:
  FileBytes(std::string path, int file, FileFacts* facts, std::atomic<std::int64_t>* bytes_read)
      : path_(std::move(path)), file_(file), facts_(facts), bytes_read_(bytes_read) {}
  ~FileBytes() override { ::close(file_); }

  Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const ssize_t n = ::read(file_, buffer.data() + filled, buffer.size() - filled);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return error_at({.file = path_}, "STV0001", "cannot read: {}", std::strerror(errno));
      if (n == 0) break;
      filled += static_cast<std::size_t>(n);
    }
    if (bytes_read_ != nullptr) bytes_read_->fetch_add(static_cast<std::int64_t>(filled), std::memory_order_relaxed);
    if (facts_ != nullptr) {
      hash_.add({buffer.data(), filled});
      facts_->bytes += static_cast<std::int64_t>(filled);
      if (filled == 0) {
        facts_->sha256 = hash_.digest();
        facts_ = nullptr;
      }
    }
    return filled;
  }

 private:
  std::string path_;
  int file_;
  FileFacts* facts_;
  std::atomic<std::int64_t>* bytes_read_;
  Sha256 hash_;
};

// Several members one behind the other are one text, as in gzip(1).
class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::string path, std::unique_ptr<ByteSource> packed)
      : path_(std::move(path)), packed_(std::move(packed)), input_(piece_bytes) {
    std::memset(&stream_, 0, sizeof stream_);
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipBytes() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (!ready_) return error_at({.file = path_}, "STV0734", "gzip: out of memory");
    if (damage_) return *damage_;
    std::size_t filled = 0;
    while (filled < buffer.size() && !ended_) {
      if (stream_.avail_in == 0) {
        TRY(const std::size_t n, packed_->read(input_));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(n);
        if (n == 0) {
          if (!between_) return cut("the gzip data ends too early", filled);
          ended_ = true;
          break;
        }
      }
      if (between_ && stream_.next_in[0] != 0x1f) {  // padding behind the last member
        stream_.avail_in = 0;
        continue;
      }
      between_ = false;
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data() + filled);
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size() - filled, 1U << 30));
      const uInt room = stream_.avail_out;
      const int rc = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      if (rc == Z_STREAM_END) {
        between_ = true;
        inflateReset(&stream_);
      } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
        return cut(stream_.msg != nullptr ? stream_.msg : "the gzip data is damaged", filled);
      }
    }
    return filled;
  }

 private:
  // What came before the damage is given first, the error by the next read.
  Result<std::size_t> cut(std::string_view why, std::size_t filled) {
    damage_ = error_at({.file = path_}, "STV0734", "damaged: {}", why);
    while (true) {  // so that the file's hash is of the whole file
      TRY(const std::size_t n, packed_->read(input_));
      if (n == 0) break;
    }
    if (filled == 0) return *damage_;
    return filled;
  }

  std::string path_;
  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_;
  bool ready_ = false;
  bool between_ = true;  // members
  bool ended_ = false;
  std::optional<Failure> damage_;
};

class ReadAhead final : public ByteSource {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)), thread_([this] { work(); }) {}
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      if (used_ == current_.size()) {
        std::unique_lock lock(mutex_);
        if (!current_.empty()) spare_.push_back(std::move(current_));
        current_.clear();
        used_ = 0;
        changed_.wait(lock, [this] { return !pieces_.empty() || finished_; });
        if (pieces_.empty()) {
          if (failure_ && filled == 0) return *failure_;
          return filled;
        }
        current_ = std::move(pieces_.front());
        pieces_.pop_front();
        lock.unlock();
        changed_.notify_all();
      }
      const std::size_t n = std::min(buffer.size() - filled, current_.size() - used_);
      std::memcpy(buffer.data() + filled, current_.data() + used_, n);
      filled += n;
      used_ += n;
    }
    return filled;
  }

 private:
  void work() {
    while (true) {
      std::vector<char> piece;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return pieces_.size() < most_ahead || stop_; });
        if (stop_) return;
        if (!spare_.empty()) {
          piece = std::move(spare_.back());
          spare_.pop_back();
        }
      }
      piece.resize(piece_bytes);
      Result<std::size_t> n = source_->read(piece);
      const std::lock_guard lock(mutex_);
      finished_ = !n || *n == 0;
      if (!n) failure_ = Failure(n.problems());
      if (!finished_) {
        piece.resize(*n);
        pieces_.push_back(std::move(piece));
      }
      changed_.notify_all();
      if (finished_) return;
    }
  }

  static constexpr std::size_t most_ahead = 16;
  std::unique_ptr<ByteSource> source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<char>> pieces_;
  std::vector<std::vector<char>> spare_;
  std::optional<Failure> failure_;
  bool finished_ = false;
  bool stop_ = false;
  std::vector<char> current_;  // the reader's own
  std::size_t used_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path, FileFacts* facts,
                                               std::atomic<std::int64_t>* bytes_read) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return error_at({.file = path}, "STV0001", "cannot read: {}", std::strerror(errno));
  struct stat about {};
  if (::fstat(file, &about) != 0 || S_ISDIR(about.st_mode)) {
    ::close(file);
    return error_at({.file = path}, "STV0001", "cannot read: it is a folder");
  }
  unsigned char magic[2] = {0, 0};
  const bool gzip = ::pread(file, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  std::unique_ptr<ByteSource> bytes = std::make_unique<FileBytes>(path, file, facts, bytes_read);
  if (gzip) bytes = std::make_unique<GzipBytes>(path, std::move(bytes));
  return bytes;
}

std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source) {
  return std::make_unique<ReadAhead>(std::move(source));
}

}  // namespace stave
