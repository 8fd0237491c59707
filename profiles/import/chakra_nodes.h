// The nodes of a Chakra execution trace, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/chakra_messages.h"
#include "profiles/import/wire_stream.h"

namespace stave {

struct ChakraNode {
  std::uint64_t id = 0;
  std::int64_t byte = 0;
  std::string_view name{};
  chakra::NodeType type = chakra::NodeType::invalid;
  std::optional<std::uint64_t> start_us{};
  std::uint64_t duration_us = 0;
  std::vector<std::uint64_t> depends_on{};                             // control and data
  std::vector<std::pair<std::string_view, std::string>> attributes{};  // values as JSON

  // "" if it has none of the name.
  std::string_view attribute(std::string_view wanted) const;
  std::optional<std::int64_t> number(std::string_view wanted) const;
  std::string text(std::string_view wanted) const;
  // What the trace does not say of is the host's.
  bool on_device() const { return attribute("is_cpu_op") == "false" || attribute("is_cpu_op") == "0"; }
};

class ChakraNodes {
 public:
  // What is null is not told.
  ChakraNodes(ByteSource& source, std::string_view file, ProblemCounts* problems);
  // The next node; its views live until the next call. False: there is none.
  Result<bool> next(ChakraNode& node);
  // The schema, or the version; known with the first node.
  const std::string& version() const { return version_; }

 private:
  WireStream stream_;
  bool in_nodes_ = false;
  std::string version_;
};

}  // namespace stave
