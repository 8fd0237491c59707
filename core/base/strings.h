// Interned strings: each text once, named by a 4-byte id in order of first use.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/ids.h"

namespace stave {

using StringId = Id<struct StringTag>;

class Strings {
 public:
  Strings() = default;
  Strings(const Strings& other);
  Strings& operator=(const Strings& other);
  Strings(Strings&&) = default;
  Strings& operator=(Strings&&) = default;

  StringId intern(std::string_view text);
  // The id of a text that was interned before.
  StringId find(std::string_view text) const;
  std::string_view operator[](StringId id) const { return texts_[id.value]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moves, so that the keys below stay valid
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace stave
