// The recorder's state from one process of a run to another.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/timeline/pipe.h"
#include "executor/cuda/recorder_state.h"

namespace stave::cuda {
namespace {

template <class T>
void put(ByteWriter& w, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  w.text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

template <class T>
void get(ByteReader& r, std::vector<T>& values) {
  const std::string_view bytes = r.text();
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
}

template <class Map>
void put_map(ByteWriter& w, const Map& map) {
  std::vector<typename Map::key_type> keys;
  std::vector<typename Map::mapped_type> values;
  for (const auto& [key, value] : map) {
    keys.push_back(key);
    values.push_back(value);
  }
  put(w, keys);
  put(w, values);
}

template <class Map>
void get_map(ByteReader& r, Map& map) {
  std::vector<typename Map::key_type> keys;
  std::vector<typename Map::mapped_type> values;
  get(r, keys);
  get(r, values);
  for (std::size_t i = 0; i < std::min(keys.size(), values.size()); ++i) map.emplace(keys[i], values[i]);
}

}  // namespace

std::string packed(const Recorder::State& s) {
  ByteWriter w;
  w.number(s.names.size());
  for (std::size_t i = 0; i < s.names.size(); ++i) w.text(s.names[StringId{i}]);
  put(w, s.device);
  put(w, s.api);
  put(w, s.steps);
  put(w, s.samples);
  put_map(w, s.by_correlation);
  put_map(w, s.by_node);
  put_map(w, s.threads);
  w.number(s.dropped);
  w.number(s.timeless);
  return w.bytes();
}

Result<void> unpack(std::string_view bytes, Recorder::State& s) {
  ByteReader r(bytes);
  const std::uint64_t names = r.number();
  for (std::uint64_t i = 0; i < names && r.fine(); ++i) s.names.intern(r.text());
  get(r, s.device);
  get(r, s.api);
  get(r, s.steps);
  get(r, s.samples);
  get_map(r, s.by_correlation);
  get_map(r, s.by_node);
  get_map(r, s.threads);
  s.dropped = r.number();
  s.timeless = r.number();
  const auto named = [&](StringId name) { return name.value < s.names.size(); };
  const bool names_fine =
      std::all_of(s.device.begin(), s.device.end(), [&](const DeviceRecord& d) { return named(d.name); }) &&
      std::all_of(s.api.begin(), s.api.end(), [&](const ApiRecord& a) { return named(a.name); });
  if (!r.fine() || !r.at_end() || !names_fine)
    return error_at({}, "STV0944", "the records of another process are incomplete");
  return {};
}

}  // namespace stave::cuda
