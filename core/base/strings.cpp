#include "core/base/strings.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace stave {
namespace {

constexpr std::size_t block_bytes = 64 * 1024;

std::uint32_t hash_of(std::string_view text) { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text)); }

}  // namespace

Strings::Strings(const Strings& other) {
  for (const std::string_view text : other.texts_) intern(text);
}

Strings& Strings::operator=(const Strings& other) {
  if (this != &other) *this = Strings(other);
  return *this;
}

std::size_t Strings::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id && (slots_[at].hash != hash || texts_[slots_[at].id.value] != text)) at = (at + 1) & mask;
  return at;
}

void Strings::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(slots_.size() * 2, 16)));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (!slot.id) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::string_view Strings::keep(std::string_view text) {
  if (text.empty()) return {};
  // A moved-from value has no block, whatever else it still says.
  if (blocks_.empty() || text.size() > block_left_) {
    block_left_ = std::max(text.size(), block_bytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_left_));
    block_at_ = blocks_.back().get();
  }
  std::memcpy(block_at_, text.data(), text.size());
  const std::string_view kept(block_at_, text.size());
  block_at_ += text.size();
  block_left_ -= text.size();
  return kept;
}

StringId Strings::intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(text);
  Slot& slot = slots_[slot_of(text, hash)];
  if (slot.id) return slot.id;
  slot = {hash, StringId{texts_.size()}};
  texts_.push_back(keep(text));
  return slot.id;
}

StringId Strings::find(std::string_view text) const {
  return slots_.empty() ? StringId{} : slots_[slot_of(text, hash_of(text))].id;
}

}  // namespace stave
