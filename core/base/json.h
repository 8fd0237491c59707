// Writes JSON: keys in the order they are given, two-space indent, numbers
// that read back to the same value. Unknown is null.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stave {

class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
    return raw(std::to_string(number));
  }
  JsonWriter& null() { return raw("null"); }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  template <class T>
  JsonWriter& field(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  // The document, with a newline at its end. Call once, when all is closed.
  std::string finish() &&;

 private:
  JsonWriter& raw(std::string_view text);
  void before_value();
  void newline();

  struct Level {
    bool array;
    bool empty = true;
  };
  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

// "text" as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace stave
