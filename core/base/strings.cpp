#include "core/base/strings.h"

namespace stave {

Strings::Strings(const Strings& other) {
  for (const std::string& text : other.texts_) intern(text);
}

Strings& Strings::operator=(const Strings& other) {
  if (this != &other) *this = Strings(other);
  return *this;
}

StringId Strings::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  texts_.emplace_back(text);
  const StringId id{texts_.size() - 1};
  ids_.emplace(texts_.back(), id);
  return id;
}

StringId Strings::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? StringId{} : found->second;
}

}  // namespace stave
