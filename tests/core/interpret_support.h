// Buffers for the tests of core/ir/interpret.
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"

namespace stave {

inline constexpr Dtype all_dtypes[] = {Dtype::Bool,   Dtype::S4,  Dtype::U4,   Dtype::S8,  Dtype::U8,  Dtype::S16,
                                       Dtype::U16,    Dtype::S32, Dtype::U32,  Dtype::S64, Dtype::U64, Dtype::F8E4M3,
                                       Dtype::F8E5M2, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64};
static_assert(std::size(all_dtypes) == dtype_count);

struct TestBuffer {
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  // Fresh buffers hold 0xa5, so that what is not written shows.
  TestBuffer(Dtype d, std::vector<std::int64_t> s)
      : dtype(d),
        shape(std::move(s)),
        bytes(static_cast<std::size_t>(storage_bytes(d, elements_of(shape))), std::byte{0xa5}) {}
  TestBuffer(Dtype d, std::vector<std::int64_t> s, const std::vector<double>& values) : TestBuffer(d, std::move(s)) {
    store_doubles(bytes, dtype, 0, values.size(), values.data());
  }

  std::size_t size() const { return static_cast<std::size_t>(elements_of(shape)); }
  Operand out() { return {bytes, dtype, shape}; }
  ConstOperand in() const { return {bytes, dtype, shape}; }
  std::vector<double> values() const {
    std::vector<double> v(size());
    load_doubles(bytes, dtype, 0, v.size(), v.data());
    return v;
  }
};

inline std::vector<std::string> codes_of(const Problems& problems) {
  std::vector<std::string> codes;
  for (const Problem& p : problems) codes.push_back(p.code);
  return codes;
}

}  // namespace stave
