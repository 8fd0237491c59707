// Ids and the stores that own what they name. Nothing in Stave points; copying
// a module, a plan or a timeline copies vectors.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace stave {

// A position in one kind of store. `Id{}` is no position: it tests false.
template <class Tag>
struct Id {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t value = none;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr explicit operator bool() const { return value != none; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A run of consecutive positions in one kind of store.
template <class Tag>
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;

  constexpr bool empty() const { return count == 0; }
  constexpr std::size_t size() const { return count; }
  constexpr Id<Tag> operator[](std::size_t i) const { return Id<Tag>{first + i}; }
  friend constexpr auto operator<=>(IdRange, IdRange) = default;

  struct iterator {
    std::uint32_t at;
    Id<Tag> operator*() const { return Id<Tag>{at}; }
    iterator& operator++() {
      ++at;
      return *this;
    }
    friend bool operator==(iterator, iterator) = default;
  };
  iterator begin() const { return {first}; }
  iterator end() const { return {first + count}; }
};

// A vector that is indexed by its own kind of id only.
template <class T, class Tag = T>
class Store {
 public:
  using id_type = Id<Tag>;

  id_type add(T value) {
    values_.push_back(std::move(value));
    return id_type{values_.size() - 1};
  }
  T& operator[](id_type id) {
    assert(id.value < values_.size());
    return values_[id.value];
  }
  const T& operator[](id_type id) const {
    assert(id.value < values_.size());
    return values_[id.value];
  }
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void reserve(std::size_t n) { values_.reserve(n); }
  id_type next_id() const { return id_type{values_.size()}; }
  IdRange<Tag> range_from(std::size_t first) const {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(values_.size() - first)};
  }
  IdRange<Tag> all() const { return range_from(0); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::vector<T>& raw() { return values_; }
  const std::vector<T>& raw() const { return values_; }
  friend bool operator==(const Store&, const Store&) = default;

 private:
  std::vector<T> values_;
};

}  // namespace stave

template <class Tag>
struct std::hash<stave::Id<Tag>> {
  std::size_t operator()(stave::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
