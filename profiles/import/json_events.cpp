#include "profiles/import/json_events.h"

#include <algorithm>
#include <cstring>

#include "profiles/import/json_text.h"

namespace stave {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 20;
constexpr std::size_t kept_root_bytes = std::size_t{1} << 20;  // a longer value beside the events is passed over
// Enough for what tells an event's start, with the text before it.
constexpr std::size_t context_bytes = 256;

using Outcome = JsonParser::Outcome;

constexpr std::string_view event_keys[] = {"ph", "name", "cat", "ts", "pid", "tid", "dur", "id", "args", "s", "bp"};
constexpr std::string_view root_keys[] = {
    "traceName", "displayTimeUnit", "baseTimeNanoseconds", "distributedInfo", "INFO",    "deviceProperties",
    "otherData", "schemaVersion",   "systemTraceEvents",   "stackFrames",     "metadata"};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// `text` begins with a quoted name of `names` and a colon.
bool begins_with_key(std::string_view text, std::span<const std::string_view> names) {
  if (!text.starts_with('"')) return false;
  const std::size_t quote = text.substr(0, context_bytes / 2).find('"', 1);
  if (quote == std::string_view::npos) return false;
  const std::string_view name = text.substr(1, quote - 1);
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  const std::size_t colon = text.find_first_not_of(" \n\r\t", quote + 1);
  return colon != std::string_view::npos && text[colon] == ':';
}

std::string_view after_space(std::string_view text) {
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
  return text;
}

}  // namespace

JsonEvents::JsonEvents(ByteSource& source, std::string_view file, ProblemCounts* problems)
    : source_(source), file_(file), problems_(problems), buffer_(read_bytes + JsonParser::padding) {}

std::string_view JsonEvents::root(std::string_view key) const {
  for (const auto& [name, value] : root_)
    if (name == key) return value;
  return {};
}

void JsonEvents::count(const ProblemKind& kind) {
  if (problems_ != nullptr) problems_->count(kind, {.file = file_, .byte = bytes()});
}

Result<bool> JsonEvents::refill() {
  // What stands before begin_ tells whether an event can start there.
  const std::size_t keep = std::min(begin_, context_bytes);
  const std::size_t from = begin_ - keep;
  std::memmove(buffer_.data(), buffer_.data() + from, end_ - from);
  base_ += static_cast<std::int64_t>(from);
  begin_ = keep;
  end_ -= from;
  std::size_t room = buffer_.size() - JsonParser::padding - end_;
  if (room < read_bytes / 2) {
    if (end_ - begin_ >= max_event_bytes) return false;
    buffer_.resize(2 * (buffer_.size() - JsonParser::padding) + JsonParser::padding);
    room = buffer_.size() - JsonParser::padding - end_;
  }
  std::size_t got = 0;
  if (!at_end_) {
    TRY(got, source_.read({buffer_.data() + end_, room}));
    at_end_ = got == 0;
  }
  end_ += got;
  std::memset(buffer_.data() + end_, 0, JsonParser::padding);
  return got > 0;
}

void JsonEvents::skip_space() {
  while (begin_ < end_ && is_space(buffer_[begin_])) ++begin_;
}

Result<void> JsonEvents::start() {
  TRY(const bool any, refill());
  if (any && std::string_view(at(begin_), end_ - begin_).starts_with("\xef\xbb\xbf")) begin_ += 3;
  skip_space();
  const char first = begin_ < end_ ? buffer_[begin_] : '\0';
  in_object_ = first == '{';
  state_ = first == '{' ? State::InObject : first == '[' ? State::InEvents : State::Ended;
  ++begin_;
  if (state_ != State::Ended) return {};
  --begin_;
  count(problem_kinds::bad_event);
  return {};
}

// One member of the root object, up to the first byte of the events if it is those.
Result<void> JsonEvents::member() {
  skip_space();
  JsonParser parser(at(begin_), at(end_));
  const auto read = [&](std::string_view& name, JsonValue& value) -> Outcome {
    parser.skip_space();
    while (*parser.at() == ',') {
      parser = JsonParser(parser.at() + 1, at(end_));
      parser.skip_space();
    }
    if (*parser.at() == '}') {
      closed_ = true;
      return Outcome::Done;
    }
    JsonValue key;
    if (parser.at() >= at(end_)) return Outcome::More;
    if (*parser.at() != '"') return Outcome::Bad;
    if (const Outcome got = parser.value(key); got != Outcome::Done) return got;
    name = key.text;
    parser.skip_space();
    if (*parser.at() != ':') return parser.at() >= at(end_) ? Outcome::More : Outcome::Bad;
    parser = JsonParser(parser.at() + 1, at(end_));
    parser.skip_space();
    if (name == "traceEvents" && *parser.at() == '[') return Outcome::Done;
    return parser.value(value);
  };
  std::string_view name;
  JsonValue value;
  const Outcome outcome = read(name, value);
  if (outcome == Outcome::Done) {
    begin_ = static_cast<std::size_t>(parser.at() - buffer_.data());
    if (closed_) {
      ++begin_;
      state_ = State::Ended;
    } else if (name == "traceEvents" && !value) {
      ++begin_;
      state_ = State::InEvents;
    } else if (value.text.size() <= kept_root_bytes) {
      root_.emplace_back(std::string(name), std::string(value.text));
    }
    return {};
  }
  if (outcome == Outcome::More) {
    TRY(const bool more, refill());
    if (more) return {};
    if (at_end_) {
      count(problem_kinds::truncated);
      state_ = State::Ended;
      return {};
    }
  }
  count(problem_kinds::bad_event);
  return resynchronise();
}

Result<bool> JsonEvents::event(TraceEvent& event) {
  skip_space();
  while (begin_ < end_ && buffer_[begin_] == ',') {
    ++begin_;
    skip_space();
  }
  if (begin_ >= end_) {
    TRY(const bool more, refill());
    if (more) return false;
    // The closing bracket of a list is optional in this format.
    if (in_object_) count(problem_kinds::truncated);
    state_ = State::Ended;
    return false;
  }
  if (buffer_[begin_] == ']') {
    ++begin_;
    state_ = in_object_ ? State::InObject : State::Ended;
    closed_ = !in_object_;
    return false;
  }
  if (buffer_[begin_] == '{') {
    JsonParser parser(at(begin_), at(end_));
    event.byte = bytes();
    const Outcome outcome = parser.event(event);
    if (outcome == Outcome::Done) {
      event.odd = parser.odd();
      const std::string_view text(at(begin_), static_cast<std::size_t>(parser.at() - at(begin_)));
      if ((event.odd & json_odd::not_ascii) != 0 && !is_utf8(text)) event.odd |= json_odd::not_utf8;
      if ((event.odd & json_odd::any) != 0) count(problem_kinds::odd_text);
      begin_ += text.size();
      return true;
    }
    if (outcome == Outcome::More) {
      TRY(const bool more, refill());
      if (more) return false;
      if (at_end_) {
        count(problem_kinds::truncated);
        ++begin_;
        TRY_VOID(resynchronise());
        return false;
      }
    }
  }
  count(problem_kinds::bad_event);
  ++begin_;
  TRY_VOID(resynchronise());
  return false;
}

Result<void> JsonEvents::resynchronise() {
  while (true) {
    const std::string_view text(buffer_.data(), end_);
    for (std::size_t i = begin_; (i = text.find_first_of("{]", i)) != std::string_view::npos; ++i) {
      if (!at_end_ && end_ - i < context_bytes) break;
      begin_ = i;
      const std::string_view behind = after_space(text.substr(i + 1));
      if (text[i] == '{') {
        // An object that is the value of a key, as args are, is no event.
        std::size_t before = i;
        while (before > 0 && is_space(text[before - 1])) --before;
        if (before > 0 && text[before - 1] == ':') continue;
        if (!begins_with_key(behind, event_keys)) continue;
        state_ = State::InEvents;
        return {};
      }
      if (in_object_ && behind.starts_with(',') && begins_with_key(after_space(behind.substr(1)), root_keys)) {
        state_ = State::InEvents;
        return {};
      }
      if (at_end_ &&
          after_space(behind.substr(std::min<std::size_t>(behind.starts_with('}'), behind.size()))).empty()) {
        begin_ = end_;
        closed_ = true;
        state_ = State::Ended;
        return {};
      }
    }
    if (at_end_) {
      begin_ = end_;
      state_ = State::Ended;
      return {};
    }
    begin_ = std::max(begin_, end_ - std::min(end_, context_bytes));
    TRY_VOID(refill());
  }
}

Result<bool> JsonEvents::next(TraceEvent& out) {
  while (true) {
    switch (state_) {
      case State::Start: TRY_VOID(start()); break;
      case State::InObject: TRY_VOID(member()); break;
      case State::InEvents: {
        TRY(const bool found, event(out));
        if (found) return true;
        break;
      }
      case State::Ended: {
        // Something behind the end: a second writer, or what an older, longer file left.
        skip_space();
        if (begin_ >= end_) {
          TRY(const bool more, refill());
          if (!more) return false;
          break;
        }
        if (!closed_) return false;
        closed_ = false;
        count(problem_kinds::bad_event);
        TRY_VOID(resynchronise());
        break;
      }
    }
  }
}

}  // namespace stave
