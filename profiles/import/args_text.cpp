#include "profiles/import/args_text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/json.h"
#include "profiles/import/json_parser.h"

namespace stave {

void ArgsText::add(std::string_view name, std::string_view text) { add_json(name, json_quoted(text)); }
void ArgsText::add(std::string_view name, std::int64_t number) { add_json(name, std::to_string(number)); }
void ArgsText::add(std::string_view name, std::uint64_t number) { add_json(name, std::to_string(number)); }
void ArgsText::add(std::string_view name, double number) {
  add_json(name, std::isfinite(number) ? fmt::format("{}", number) : "null");
}

void ArgsText::add_json(std::string_view name, std::string_view json) {
  text_ += text_.empty() ? "{" : ", ";
  text_ += json_quoted(name);
  text_ += ": ";
  text_ += json;
}

std::string ArgsText::take() {
  if (!text_.empty()) text_ += '}';
  return std::exchange(text_, {});
}

ArgsFields::ArgsFields(std::string_view object) : text_(object) {
  text_.resize(object.size() + JsonParser::padding, '\0');
  if (object.empty()) return;
  JsonParser parser(text_.data(), text_.data() + object.size());
  if (parser.fields(event_.arguments) != JsonParser::Outcome::Done) event_.arguments.clear();
}

}  // namespace stave
