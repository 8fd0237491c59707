// Interned strings: each text once, named by a 4-byte id in order of first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

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
  // Valid as long as these strings, also when they move.
  std::string_view operator[](StringId id) const { return texts_[id.value]; }
  std::size_t size() const { return texts_.size(); }

 private:
  // Where the text is, or the empty slot where it belongs. There must be slots.
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();
  std::string_view keep(std::string_view text);

  // An open-addressing table; a slot is compared by hash before its text is.
  struct Slot {
    std::uint32_t hash = 0;
    StringId id;  // none: empty
  };
  std::vector<std::string_view> texts_;  // into blocks_
  std::vector<Slot> slots_;              // a power of two, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;  // free at the end of the last block
  char* block_at_ = nullptr;
};

}  // namespace stave
