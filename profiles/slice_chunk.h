// The blobs of STAVE_SLICE_CHUNK: slices as columns, which a reader copies
// instead of parsing. Little-endian; ids as in the file, from 1; 0 is no
// command; 0xffffffff is no step.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/timeline/rows.h"

namespace stave {

inline constexpr std::array<std::size_t, 10> chunk_column_bytes{4, 8, 8, 4, 4, 4, 4, 2, 1, 1};

// What turns a run's own ids, from 0, into the file's.
struct FileIds {
  std::uint32_t first_track = 1;
  std::uint32_t first_command = 1;
};

using ChunkColumns = std::array<std::vector<std::byte>, chunk_column_bytes.size()>;

// `name` of each slice is the file's name id already.
void encode_chunk(std::span<const Slice> slices, const FileIds& ids, ChunkColumns& columns);

// Names become positions from 0. Ids that the run does not have stay out of
// range, for a BatchCheck to refuse. False: a blob has the wrong size.
bool decode_chunk(std::span<const std::span<const std::byte>, chunk_column_bytes.size()> columns, std::size_t count,
                  const FileIds& ids, std::vector<Slice>& slices);

}  // namespace stave
