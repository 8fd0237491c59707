// The events of a Chrome-style JSON text, one after the other, in memory that
// does not grow with the text. A mistake costs one event: it is counted with
// its place, and reading goes on at the next event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/byte_source.h"
#include "profiles/import/json_parser.h"
#include "profiles/import/problem_counts.h"

namespace stave {

class JsonEvents {
 public:
  // An event longer than this is a mistake.
  static constexpr std::size_t max_event_bytes = std::size_t{16} << 20;

  // `file` stands in problems. What is null is not told.
  JsonEvents(ByteSource& source, std::string_view file, ProblemCounts* problems);

  // The next event; its views live until the next call. False: there is none.
  Result<bool> next(TraceEvent& event);

  // A value beside the events, as text with quotes: "" if it did not come yet.
  std::string_view root(std::string_view key) const;
  std::int64_t bytes() const { return base_ + static_cast<std::int64_t>(begin_); }

 private:
  enum class State { Start, InObject, InEvents, Ended };

  const char* at(std::size_t i) const { return buffer_.data() + i; }
  // More text behind the present one; false at the text's end or when the buffer is as long as may be.
  Result<bool> refill();
  Result<void> start();
  Result<void> member();
  Result<bool> event(TraceEvent& event);
  // To the next event, or the next known member of the root, from begin_ on.
  Result<void> resynchronise();
  void count(const ProblemKind& kind);
  void skip_space();

  ByteSource& source_;
  std::string file_;
  ProblemCounts* problems_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what was not read yet
  std::size_t end_ = 0;
  std::int64_t base_ = 0;  // the byte of the text that buffer_[0] is
  bool at_end_ = false;    // the source has no more
  State state_ = State::Start;
  bool in_object_ = false;  // the root is an object
  bool closed_ = false;     // the root was closed
  std::vector<std::pair<std::string, std::string>> root_;
};

}  // namespace stave
