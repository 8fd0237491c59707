#include "profiles/slice_chunk.h"

#include <bit>
#include <cstring>

namespace stave {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are copied, not swapped");

template <class T, class Get>
void put(std::span<const Slice> slices, std::vector<std::byte>& column, Get get) {
  column.resize(slices.size() * sizeof(T));
  std::byte* at = column.data();
  for (const Slice& slice : slices) {
    const T value = static_cast<T>(get(slice));
    std::memcpy(at, &value, sizeof(T));
    at += sizeof(T);
  }
}

template <class T>
T get(std::span<const std::byte> column, std::size_t row) {
  T value;
  std::memcpy(&value, column.data() + row * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

void encode_chunk(std::span<const Slice> slices, const FileIds& ids, ChunkColumns& columns) {
  put<std::uint32_t>(slices, columns[0], [&](const Slice& s) { return s.track.value + ids.first_track; });
  put<std::int64_t>(slices, columns[1], [](const Slice& s) { return s.start.count(); });
  put<std::int64_t>(slices, columns[2], [](const Slice& s) { return s.duration.count(); });
  put<std::uint32_t>(slices, columns[3], [](const Slice& s) { return s.name.value; });
  put<std::uint32_t>(slices, columns[4],
                     [&](const Slice& s) { return s.command ? s.command.value + ids.first_command : 0; });
  put<std::uint32_t>(slices, columns[5], [](const Slice& s) { return s.step.value; });
  put<std::uint32_t>(slices, columns[6], [](const Slice& s) { return s.occurrence; });
  put<std::uint16_t>(slices, columns[7], [](const Slice& s) { return s.lane; });
  put<std::uint8_t>(slices, columns[8], [](const Slice& s) { return s.family; });
  put<std::uint8_t>(slices, columns[9], [](const Slice& s) { return s.flags; });
}

bool decode_chunk(std::span<const std::span<const std::byte>, chunk_column_bytes.size()> columns, std::size_t count,
                  const FileIds& ids, std::vector<Slice>& slices) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].size() != count * chunk_column_bytes[i]) return false;
  slices.resize(count);
  for (std::size_t row = 0; row < count; ++row) {
    Slice& slice = slices[row];
    slice.track = TrackId{get<std::uint32_t>(columns[0], row) - ids.first_track};
    slice.start = Time{get<std::int64_t>(columns[1], row)};
    slice.duration = Picoseconds{get<std::int64_t>(columns[2], row)};
    slice.name = StringId{get<std::uint32_t>(columns[3], row) - 1};
    const auto command = get<std::uint32_t>(columns[4], row);
    slice.command = command == 0 ? TimelineCommandId{} : TimelineCommandId{command - ids.first_command};
    slice.step = StepNumber{get<std::uint32_t>(columns[5], row)};
    slice.occurrence = get<std::uint32_t>(columns[6], row);
    slice.lane = get<std::uint16_t>(columns[7], row);
    slice.family = static_cast<Family>(get<std::uint8_t>(columns[8], row));
    slice.flags = get<std::uint8_t>(columns[9], row);
  }
  return true;
}

}  // namespace stave
