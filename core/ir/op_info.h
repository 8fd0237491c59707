// How an op describes itself. Parser, printer, MLIR form, reference pages and
// the generic walk over attributes read nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/ir/values.h"

namespace stave {

enum class OpFamily : std::uint8_t { Static, Buffer, Memory, Compute, Control, Stream, Collective, Mark };
std::string_view name_of(OpFamily family);

// What `%x = op` defines, if anything.
enum class ResultKind : std::uint8_t { None, Buffer, View, Token };

// How many views stand left or right of the arrow.
struct Arity {
  std::uint8_t min = 0;
  std::uint8_t max = 0;  // many: no limit
  static constexpr std::uint8_t many = 255;
};

// The labels of an op's regions: "" is one region without a label.
struct RegionShape {
  std::array<std::string_view, 2> labels{};  // in this order
  std::uint8_t min = 0;
  std::uint8_t max = 0;  // Arity::many: the first label repeats (switch)
};

struct OpInfo {
  std::string_view name;
  OpFamily family;
  std::string_view summary;  // one or more sentences for the reference
  std::string_view example;  // a line that parses inside a function
  ResultKind result = ResultKind::None;
  bool callee = false;  // call @f
  bool type = false;    // scratch f32[4]
  Arity operands{};     // left of the arrow
  Arity results{};      // right of the arrow
  RegionShape regions{};
  bool runs = true;  // false: the static layer and buffers; gone, or not a command, after expansion
};

// One attribute: its name, the member that holds it once evaluated, and what it means.
template <class Op, class T>
struct Field {
  using type = T;
  std::string_view name;
  T Op::*member;
  std::string_view summary;
  bool required = false;
};
template <class Op, class T>
Field(std::string_view, T Op::*, std::string_view) -> Field<Op, T>;
template <class Op, class T>
Field(std::string_view, T Op::*, std::string_view, bool) -> Field<Op, T>;

inline constexpr bool required = true;

}  // namespace stave
