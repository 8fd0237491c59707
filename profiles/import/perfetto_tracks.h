// The tracks of a Perfetto trace and the processes that they belong to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profiles/import/perfetto_event.h"

namespace stave {

class PerfettoTracks {
 public:
  // Positions in all(). A track that nothing describes is one, too.
  std::size_t of_uuid(std::uint64_t uuid);
  std::size_t of_queue(std::int64_t gpu, std::optional<std::uint64_t> context, const std::string& name);
  std::size_t add();

  // Descriptors; what is said later adds to what was said before. Throw protozero::exception.
  void describe(std::string_view track_descriptor);
  void describe_thread(std::string_view thread_descriptor, PerfettoTrack& track);
  void describe_process(std::string_view process_descriptor, PerfettoTrack& track);
  void describe_context(std::string_view graphics_context);

  const std::vector<PerfettoTrack>& all() const { return tracks_; }
  PerfettoTrack& at(std::size_t track) { return tracks_[track]; }
  const PerfettoTrack* find(std::uint64_t uuid) const;
  // The names of processes, also of those that have no track.
  const std::map<std::int64_t, std::string>& processes() const { return processes_; }
  std::optional<std::int64_t> pid_of_context(std::uint64_t context) const;

 private:
  std::vector<PerfettoTrack> tracks_;
  std::unordered_map<std::uint64_t, std::size_t> by_uuid_;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::string>, std::size_t> queues_;
  std::map<std::int64_t, std::string> processes_;
  std::map<std::uint64_t, std::int64_t> contexts_;  // process of a context
};

}  // namespace stave
