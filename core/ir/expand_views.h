// Views: which bytes of a buffer `%ring[s mod 2][0:4] as u8[16]` is (rules 8 and 20).
#pragma once

#include "core/ir/expand_scopes.h"
#include "core/ir/expand_values.h"

namespace stave {

// 2^47 bytes, 128 TiB: offsets in bits then fit 64 bits with room.
inline constexpr std::int64_t max_buffer_bytes = std::int64_t{1} << 47;

struct TypeSize {
  IdRange<DimTag> shape;
  std::int64_t elements = 1;
  std::int64_t bytes = 0;  // rounded up to whole bytes
};

class Views {
 public:
  Views(Evaluation& names, Expanded& out) : names_(&names), out_(&out) {}

  // A type's dimensions, which are the same on all ranks.
  Result<TypeSize> size_of(TypeId type);
  // The part of `base` that the indices and the type of `ref` choose.
  Result<View> resolve(const View& base, const ViewRef& ref);

 private:
  struct Slice {
    CoordInt begin;
    std::int64_t length = 1;
    bool drops = true;  // an integer index drops the dimension
  };
  Result<Slice> slice(const Index& index, std::int64_t dim, Loc loc);
  Result<std::int64_t> length(CoordInt begin, CoordInt end, Loc loc);
  Result<void> check_bounds(CoordInt begin, std::int64_t length, std::int64_t dim, Loc loc, bool slice) const;
  Result<CoordInt> byte_offset(CoordInt begin, std::int64_t row_bits, Dtype dtype, Loc loc);
  Result<View> reinterpret(View view, TypeId type, Loc loc);

  Evaluation* names_;
  Expanded* out_;
};

}  // namespace stave
