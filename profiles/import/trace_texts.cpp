#include "profiles/import/trace_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "profiles/import/importer.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t tar_block = 512;

// A source from which some bytes can be taken before the others are read.
class Peeked final : public ByteSource {
 public:
  explicit Peeked(ByteSource& rest) : rest_(rest) {}

  // Up to `n` of the next bytes; fewer only at the end.
  Result<std::string_view> peek(std::size_t n) {
    while (head_.size() - used_ < n) {
      const std::size_t old = head_.size();
      head_.resize(old + n);
      TRY(const std::size_t got, rest_.read({head_.data() + old, n}));
      head_.resize(old + got);
      if (got == 0) break;
    }
    return std::string_view(head_).substr(used_, n);
  }
  Result<std::size_t> read(std::span<char> buffer) override {
    if (used_ == head_.size()) return rest_.read(buffer);
    const std::size_t n = std::min(buffer.size(), head_.size() - used_);
    std::memcpy(buffer.data(), head_.data() + used_, n);
    used_ += n;
    return n;
  }

 private:
  ByteSource& rest_;
  std::string head_;
  std::size_t used_ = 0;
};

// The next `left` bytes of a source.
class Limited final : public ByteSource {
 public:
  Limited(ByteSource& rest, std::uint64_t left) : rest_(rest), left_(left) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (left_ == 0) return std::size_t{0};
    TRY(const std::size_t n,
        rest_.read(buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left_)))));
    if (n == 0) return error_at({}, "STV0734", "damaged: the archive ends too early");
    left_ -= n;
    return n;
  }
  std::uint64_t left() const { return left_; }

 private:
  ByteSource& rest_;
  std::uint64_t left_;
};

Result<void> skip(ByteSource& source, std::uint64_t bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, 1U << 18)));
  while (bytes > 0) {
    TRY(const std::size_t n,
        source.read(std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size())))));
    if (n == 0) return error_at({}, "STV0734", "damaged: the archive ends too early");
    bytes -= n;
  }
  return {};
}

bool is_tar(std::string_view head) { return head.size() >= tar_block && head.substr(257, 5) == "ustar"; }

// POSIX: octal digits; GNU: big-endian with the first bit set.
std::optional<std::uint64_t> tar_number(std::string_view field) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (std::size_t i = 4; i < field.size(); ++i) value = value << 8 | static_cast<unsigned char>(field[i]);
    return value;
  }
  const std::size_t first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(field.data() + first, field.data() + field.size(), value, 8);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

bool ends_with_any(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// Without the suffix of gzip.
std::string_view without_gz(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

// How a name ends that some importer reads, and that is no archive; "" if none.
std::string_view trace_ending(std::string_view name) {
  for (const std::string_view ending : {".sqlite", ".nsys-rep"})
    if (name.ends_with(ending)) return ending;
  for (const Importer& importer : importers())
    for (const std::string_view ending : importer.suffixes)
      if (without_gz(name).ends_with(ending)) return ending;
  return "";
}

// Members that are regular files named like the format's, in the archive's order.
Result<void> each_member(ByteSource& tar, TraceText text, const std::string& path,
                         std::span<const std::string_view> suffixes,
                         const std::function<Result<void>(const TraceText&)>& visit) {
  std::vector<char> header(tar_block);
  std::string long_name;
  while (true) {
    std::size_t filled = 0;
    while (filled < header.size()) {
      TRY(const std::size_t n, tar.read(std::span(header).subspan(filled)));
      if (n == 0) break;
      filled += n;
    }
    const std::string_view block(header.data(), filled);
    if (filled < tar_block || block.find_first_not_of('\0') == std::string_view::npos) return {};
    const std::optional<std::uint64_t> size = tar_number(block.substr(124, 12));
    if (!is_tar(block) || !size) return error_at({.file = path}, "STV0734", "damaged: not a tar header");
    const auto field = [&](std::size_t at, std::size_t length) {
      const std::string_view whole = block.substr(at, length);
      return std::string(whole.substr(0, std::min(whole.find('\0'), whole.size())));
    };
    const std::uint64_t padding = (tar_block - *size % tar_block) % tar_block;
    const char type = block[156];
    if (type == 'L' && *size <= 65536) {  // GNU: the next member's name
      long_name.resize(static_cast<std::size_t>(*size));
      Limited content(tar, *size);
      for (std::size_t at = 0; at < long_name.size();) {
        TRY(const std::size_t n, content.read(std::span(long_name).subspan(at)));
        at += n;
      }
      long_name.resize(std::min(long_name.find('\0'), long_name.size()));
      TRY_VOID(skip(tar, padding));
      continue;
    }
    const std::string name = long_name.empty() ? field(0, 100) : std::exchange(long_name, {});
    Limited content(tar, *size);
    if ((type == '0' || type == '\0') && ends_with_any(without_gz(name), suffixes)) {
      if (name.ends_with(".gz"))
        return error_at({.file = path}, "STV0734", "it holds {}: unpack the archive and name the folder", name);
      text.name = fs::path(name).filename().string();
      text.display = path + ":" + text.name;
      text.bytes = &content;
      TRY_VOID(visit(text));
    }
    TRY_VOID(skip(tar, content.left() + padding));
  }
}

}  // namespace

Result<TraceTexts> TraceTexts::find(std::span<const std::string> paths, std::span<const std::string_view> suffixes) {
  static constexpr std::string_view archives[] = {".tar", ".tar.gz", ".tgz"};
  TraceTexts texts;
  texts.suffixes_ = suffixes;
  std::error_code error;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path, error)) {
      texts.files_.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if ((ends_with_any(without_gz(name), suffixes) || ends_with_any(name, archives)) && at->is_regular_file(error))
        inside.push_back(at->path().string());
      else if (const std::string_view ending = trace_ending(name); !ending.empty() && at->is_regular_file(error)) {
        ++texts.unread_[std::string(ending)];
        if (texts.unread_folder_.empty()) texts.unread_folder_ = path;
      }
    }
    if (inside.empty())
      return error_at({.file = path}, "STV0731", "the folder holds no file named {}, none of them with .gz, and no {}",
                      fmt::join(suffixes, ", "), fmt::join(archives, ", "));
    std::sort(inside.begin(), inside.end());
    texts.files_.insert(texts.files_.end(), inside.begin(), inside.end());
  }
  texts.facts_.resize(texts.files_.size());
  for (const std::string& file : texts.files_) {
    const auto bytes = fs::file_size(file, error);
    if (!error) texts.total_bytes_ += static_cast<std::int64_t>(bytes);
  }
  return texts;
}

Result<void> TraceTexts::each(const std::function<Result<void>(const TraceText&)>& visit,
                              const std::function<void(const std::string& file, const Problem& why)>& damaged,
                              std::atomic<std::int64_t>* bytes_read) {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::string& path = files_[i];
    const bool known = !facts_[i].sha256.empty();
    TRY(std::unique_ptr<ByteSource> bytes, open_bytes(path, known ? nullptr : &facts_[i], bytes_read));
    bytes = read_ahead(std::move(bytes));
    Peeked peeked(*bytes);
    const auto read = [&]() -> Result<void> {
      TRY(const std::string_view head, peeked.peek(tar_block));
      TraceText text{fs::path(path).filename().string(), path, static_cast<std::uint32_t>(i), &peeked};
      if (is_tar(head)) return each_member(peeked, text, path, suffixes_, visit);
      return visit(text);
    };
    if (Result<void> done = read(); !done) {
      if (done.problems()[0].code != "STV0734") return done;
      damaged(path, done.problems()[0]);
    }
    // The rest, so that the hash is of the whole file.
    std::vector<char> rest(1U << 16);
    while (!known) {
      const Result<std::size_t> n = peeked.read(rest);
      if (!n || *n == 0) break;
    }
  }
  return {};
}

void TraceTexts::count_unread(std::string_view format, ProblemCounts& problems) const {
  if (unread_.empty()) return;
  std::string text;
  for (const auto& [ending, count] : unread_) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ending);
  // Beside an XPlane profile lies the JSON that was made of it.
  const bool made_of_it = format == "xplane" && unread_.size() == 1 && unread_.contains(".json");
  if (made_of_it)
    problems.say(problem_kinds::not_read, {.file = unread_folder_}, text + " in the folder, made of the profile");
  else
    problems.say(problem_kinds::other_formats, {.file = unread_folder_}, text);
}

std::vector<SourceInfo> TraceTexts::sources(std::string_view format) const {
  std::vector<SourceInfo> sources;
  for (std::size_t i = 0; i < files_.size(); ++i)
    sources.push_back({.name = fs::path(files_[i]).filename().string(),
                       .sha256 = facts_[i].sha256,
                       .bytes = facts_[i].bytes,
                       .format = std::string(format)});
  return sources;
}

}  // namespace stave
