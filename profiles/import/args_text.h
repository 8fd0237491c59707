// The arguments of an event as a JSON object, for formats that have them otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "profiles/import/json_event.h"

namespace stave {

class ArgsText {
 public:
  void add(std::string_view name, std::string_view text);
  void add(std::string_view name, std::int64_t number);
  void add(std::string_view name, std::uint64_t number);
  void add(std::string_view name, double number);  // null if it is none
  void add_json(std::string_view name, std::string_view json);

  bool empty() const { return text_.empty(); }
  // The object, "" if nothing was added. Begins anew.
  std::string take();

 private:
  std::string text_;
};

// Such an object's fields, to be asked for as those of a Chrome event.
class ArgsFields {
 public:
  explicit ArgsFields(std::string_view object);
  ArgsFields(const ArgsFields&) = delete;
  ArgsFields& operator=(const ArgsFields&) = delete;

  const TraceEvent& event() const { return event_; }
  JsonValue operator[](std::string_view name) const { return event_.argument(name); }

 private:
  std::string text_;
  TraceEvent event_;
};

}  // namespace stave
