// What a run is: where a stored timeline comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stave {

enum class RunKind : std::uint8_t { Measured, Predicted, Imported };
std::string_view name_of(RunKind kind);
std::optional<RunKind> run_kind_named(std::string_view name);

// An empty string means none. Nothing here is a time of day unless the maker
// gives base_unix_ns: equal inputs give equal files.
struct RunInfo {
  std::string label{};  // unique in its file
  RunKind kind = RunKind::Predicted;
  std::string mode{};  // eager, captured, captured_serial
  std::uint32_t world_size = 1;
  std::string tool{};
  std::string tool_version{};
  std::string options_json{};
  std::string schedule_text{};  // with the chosen values in its param lines
  std::string machine_text{};
  std::optional<std::int64_t> parent_run{};    // run id in the same file: the run that an edit started from
  std::string edit{};                          // how this run differs from its parent
  std::optional<std::int64_t> base_unix_ns{};  // when time 0 was, for a recording

  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

}  // namespace stave
