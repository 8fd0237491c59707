#include "profiles/import/wire_stream.h"

#include <algorithm>
#include <cstring>

namespace stave {
namespace {

constexpr std::size_t wire_piece_bytes = std::size_t{256} << 10;
constexpr std::size_t longest_varint = 10;

std::size_t fixed_bytes(WireType type) { return type == WireType::Fixed64 ? 8 : 4; }

}  // namespace

WireStream::WireStream(ByteSource& source, std::string_view file, ProblemCounts* problems, std::uint32_t frame)
    : source_(source), file_(file), problems_(problems), frame_(frame), buffer_(wire_piece_bytes) {}

void WireStream::count(const ProblemKind& kind, std::int64_t byte) {
  if (problems_ != nullptr) problems_->count(kind, {.file = file_, .byte = byte});
}

Result<std::size_t> WireStream::fill(std::size_t bytes) {
  while (end_ - begin_ < bytes && !at_end_) {
    if (begin_ + bytes > buffer_.size() || buffer_.size() == end_) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      base_ += static_cast<std::int64_t>(begin_);
      end_ -= begin_;
      begin_ = 0;
      if (bytes > buffer_.size()) buffer_.resize(std::max(bytes, 2 * buffer_.size()));
    }
    TRY(const std::size_t got, source_.read({buffer_.data() + end_, buffer_.size() - end_}));
    end_ += got;
    at_end_ = got == 0;
  }
  return end_ - begin_;
}

std::size_t WireStream::varint(std::size_t at, std::uint64_t& value) const {
  value = 0;
  for (std::size_t i = 0; i < longest_varint && begin_ + at + i < end_; ++i) {
    const auto byte = static_cast<unsigned char>(buffer_[begin_ + at + i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

Result<void> WireStream::pass_over() {
  while (pending_ > 0) {
    TRY(const std::size_t there, fill(1));
    if (there == 0) {
      count(problem_kinds::truncated, position());
      ended_ = true;
      pending_ = 0;
      return {};
    }
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(pending_, there));
    begin_ += n;
    pending_ -= n;
  }
  return {};
}

Result<bool> WireStream::leave(std::int64_t byte) {
  count(problem_kinds::bad_message, byte);
  if (ends_.empty()) return frame_ != 0 ? resynchronise() : (ended_ = true, false);
  pending_ = static_cast<std::uint64_t>(ends_.back() - position());
  ends_.pop_back();
  return false;
}

bool WireStream::frame_at(std::size_t at, std::size_t& next) const {
  std::uint64_t tag = 0, length = 0;
  const std::size_t first = varint(at, tag);
  if (first == 0 || tag != (frame_ << 3 | static_cast<std::uint32_t>(WireType::Bytes))) return false;
  const std::size_t second = varint(at + first, length);
  if (second == 0 || length == 0 || length > max_taken_bytes) return false;
  next = at + first + second + static_cast<std::size_t>(length);
  return true;
}

// To the next frame that another one, or the text's end, follows.
Result<bool> WireStream::resynchronise() {
  while (true) {
    ++begin_;
    TRY(const std::size_t there, fill(wire_piece_bytes / 2));
    if (there == 0) {
      ended_ = true;
      return false;
    }
    std::size_t next = 0, after = 0;
    if (!frame_at(0, next)) continue;
    if (next < there ? frame_at(next, after) : next == there && at_end_) return true;
  }
}

Result<bool> WireStream::next(WireField& field) {
  TRY_VOID(pass_over());
  while (!ended_) {
    const std::int64_t start = position();
    if (!ends_.empty() && start >= ends_.back()) {
      ends_.pop_back();
      return false;
    }
    TRY(std::size_t there, fill(2 * longest_varint));
    if (there == 0 && ends_.empty()) {
      ended_ = true;
      return false;
    }
    if (!ends_.empty()) there = std::min(there, static_cast<std::size_t>(ends_.back() - start));
    field.byte = start;
    std::uint64_t tag = 0;
    const std::size_t tag_bytes = varint(0, tag);
    const auto type = static_cast<std::uint8_t>(tag & 7);
    field.number = static_cast<std::uint32_t>(tag >> 3);
    bool whole = tag_bytes > 0;
    bool good = tag_bytes > 0 && tag_bytes <= there && tag >> 3 > 0 && tag >> 3 < (1U << 29) &&
                (type <= 2 || type == 5) && (!ends_.empty() || frame_ == 0 || type == 2);
    std::size_t bytes = tag_bytes;
    if (good) {
      field.type = static_cast<WireType>(type);
      if (field.type == WireType::Varint || field.type == WireType::Bytes) {
        const std::size_t n = varint(tag_bytes, field.value);
        good = whole = n > 0;
        bytes += n;
      } else {
        const std::size_t n = fixed_bytes(field.type);
        good = whole = tag_bytes + n <= there;
        field.value = 0;
        if (good) std::memcpy(&field.value, buffer_.data() + begin_ + tag_bytes, n);
        bytes += n;
      }
    }
    good = good && bytes <= there;
    if (good && field.type == WireType::Bytes)
      good = ends_.empty() ? frame_ == 0 || field.value <= max_taken_bytes
                           : field.value <= static_cast<std::uint64_t>(ends_.back() - start) - bytes;
    if (good) {
      begin_ += bytes;
      pending_ = field.type == WireType::Bytes ? field.value : 0;
      return true;
    }
    // A text that ends here was cut; in its middle something is wrong.
    const bool last = at_end_ && (ends_.empty() || ends_.back() > base_ + static_cast<std::int64_t>(end_));
    if (last && !whole && there < 2 * longest_varint) {
      count(problem_kinds::truncated, start);
      ended_ = true;
      return false;
    }
    TRY(const bool again, leave(start));
    if (!again) return false;
  }
  return false;
}

Result<bool> WireStream::next_delimited(WireField& message) {
  TRY_VOID(pass_over());
  if (ended_) return false;
  TRY(const std::size_t there, fill(longest_varint));
  message = {.number = 0, .type = WireType::Bytes, .value = 0, .byte = position()};
  if (there == 0) {
    ended_ = true;
    return false;
  }
  const std::size_t n = varint(0, message.value);
  if (n == 0 || message.value > max_taken_bytes) {
    count(n == 0 && there < longest_varint ? problem_kinds::truncated : problem_kinds::bad_message, message.byte);
    ended_ = true;
    return false;
  }
  begin_ += n;
  pending_ = message.value;
  return true;
}

Result<std::optional<std::string_view>> WireStream::take(const WireField& field) {
  std::optional<std::string_view> none;
  if (pending_ > max_taken_bytes) {
    count(problem_kinds::bad_message, field.byte);
    return none;
  }
  const auto bytes = static_cast<std::size_t>(pending_);
  TRY(const std::size_t there, fill(bytes));
  pending_ = 0;
  if (there < bytes) {
    count(problem_kinds::truncated, field.byte);
    ended_ = true;
    return none;
  }
  const std::string_view text(buffer_.data() + begin_, bytes);
  begin_ += bytes;
  return std::optional(text);
}

void WireStream::enter() {
  ends_.push_back(position() + static_cast<std::int64_t>(pending_));
  pending_ = 0;
}

}  // namespace stave
