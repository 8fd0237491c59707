// Protobuf's wire format from a source, in memory that does not grow with the
// text: a large message is entered and read field by field, a small one is
// taken whole. A mistake costs the innermost message that was entered: it is
// counted with its place, and reading goes on behind it.
#pragma once

#include <protozero/exception.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/byte_source.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// The numbers of the format. Groups (3, 4) are of an age before these traces.
enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::Varint;
  std::uint64_t value = 0;  // of Bytes: the length
  std::int64_t byte = 0;    // where it stands in the text, decompressed
};

class WireStream {
 public:
  // What is longer cannot be taken whole: it is a mistake.
  static constexpr std::size_t max_taken_bytes = std::size_t{16} << 20;

  // `file` stands in problems. What is null is not told. `frame`: all that the
  // outermost message holds is this field, which is how its next one is found
  // behind a wrong length; 0: nothing is looked for.
  WireStream(ByteSource& source, std::string_view file, ProblemCounts* problems, std::uint32_t frame = 0);

  // The next field of the message entered last; false at its end, which leaves
  // it. What a field holds is passed over unless taken or entered.
  Result<bool> next(WireField& field);
  // The next of messages that only their lengths separate.
  Result<bool> next_delimited(WireField& message);
  // What a field of Bytes holds, until the next call. None: cut or too long, which is counted.
  Result<std::optional<std::string_view>> take(const WireField& field);
  // Into the message that the last field of Bytes holds.
  void enter();

  void count(const ProblemKind& kind, std::int64_t byte);

 private:
  std::int64_t position() const { return base_ + static_cast<std::int64_t>(begin_); }
  // Bytes of a varint from begin_ + `at` on; 0: it is none, or cut.
  std::size_t varint(std::size_t at, std::uint64_t& value) const;
  // Reads until `bytes` are there behind begin_, or the text ends.
  Result<std::size_t> fill(std::size_t bytes);
  Result<void> pass_over();
  // Out of a message that cannot be read on.
  Result<bool> leave(std::int64_t byte);
  Result<bool> resynchronise();
  bool frame_at(std::size_t at, std::size_t& next) const;

  ByteSource& source_;
  std::string file_;
  ProblemCounts* problems_;
  std::uint32_t frame_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what was not read yet
  std::size_t end_ = 0;
  std::int64_t base_ = 0;             // the byte of the text that buffer_[0] is
  bool at_end_ = false;               // the source has no more
  bool ended_ = false;                // nothing can be read on
  std::uint64_t pending_ = 0;         // bytes of the last field that were not read
  std::vector<std::int64_t> ends_{};  // of the messages that were entered
};

// The one place where protozero's exceptions end: whether `read` could read its message.
template <class Read>
bool parsed(Read&& read) {
  try {
    read();
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace stave
