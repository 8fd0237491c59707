// NumPy's .npy files. Read: format 1.0, 2.0 and 3.0; written: 1.0. Little endian, C order.
// bool, i1-i8, u1-u8, f2, f4, f8 are NumPy's own. What NumPy has no type for needs a
// sidecar, a text file beside c.npy named c.dtype:
//   bf16 is stored as V2, f8e4m3 and f8e5m2 as V1; the sidecar says `bf16`.
//   s4 and u4 are stored as u1, two to a byte; the sidecar says `s4[3, 5]`, the real shape.
// A malformed file is a Problem at a byte (the place's column counts bytes from 1).
// Codes STV0670-0677.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/dtype.h"

namespace stave {

struct NpyArray {
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // storage_bytes(dtype, elements), row-major

  friend bool operator==(const NpyArray&, const NpyArray&) = default;
};

// `file` is for messages; `sidecar` is the sidecar's text, empty if there is none.
Result<NpyArray> parse_npy(std::string_view file, std::string_view content, std::string_view sidecar = {});

// The file's content and its sidecar's; no sidecar is an empty text.
struct NpyText {
  std::string content;
  std::string sidecar;
};
NpyText npy_text(Dtype dtype, std::span<const std::int64_t> shape, std::span<const std::byte> bytes);

std::string sidecar_path(const std::string& path);
Result<NpyArray> read_npy(const std::string& path);
Result<void> write_npy(const std::string& path, Dtype dtype, std::span<const std::int64_t> shape,
                       std::span<const std::byte> bytes);

}  // namespace stave
