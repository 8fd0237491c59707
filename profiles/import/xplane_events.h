// The planes of an XSpace, and their events one after the other. A plane's
// names stand behind its events, so that the planes are read before them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/import/json_text.h"
#include "profiles/import/wire_stream.h"

namespace stave {

struct XplaneLine {
  std::int64_t id = 0;
  std::string name{};
  std::int64_t timestamp_ns = 0;
};

struct XplanePlane {
  std::string name{};
  std::vector<XplaneLine> lines{};                              // as they stand in the file
  std::unordered_map<std::int64_t, std::string> events{};       // names by the id of their metadata
  std::unordered_map<std::int64_t, std::string> event_stats{};  // XStats that all events of an id share, as messages
  std::unordered_map<std::int64_t, std::string> stats{};        // names by id
  std::vector<std::pair<std::string, std::string>> facts{};     // the plane's own stats, as JSON
};

struct XplaneEvent {
  std::size_t plane = 0;
  std::size_t line = 0;  // of the plane
  std::int64_t byte = 0;
  WideTime start = 0;
  std::int64_t duration_ps = 0;
  std::string_view name{};
  std::vector<std::pair<std::string_view, std::string>> stats{};  // values as JSON

  // "" if it has none of the name.
  std::string_view stat(std::string_view wanted) const;
  std::optional<std::int64_t> number(std::string_view wanted) const;
  // Of a stat that is a text, without its quotes.
  std::string_view text(std::string_view wanted) const;
};

// What is null is not told. Also on an error `planes` holds what was read before it.
Result<void> read_planes(ByteSource& source, std::string_view file, ProblemCounts* problems,
                         std::vector<XplanePlane>& planes);

class XplaneEvents {
 public:
  // `planes`: those of the same text.
  XplaneEvents(ByteSource& source, std::string_view file, ProblemCounts* problems,
               const std::vector<XplanePlane>& planes);
  Result<bool> next(XplaneEvent& event);

 private:
  bool parse(std::string_view bytes, std::int64_t byte, XplaneEvent& event);

  WireStream stream_;
  const std::vector<XplanePlane>& planes_;
  std::size_t plane_ = 0;  // behind the one that is read
  std::size_t line_ = 0;
  int depth_ = 0;  // 0: space, 1: plane, 2: line
};

}  // namespace stave
