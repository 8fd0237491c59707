// One rule for the files that verbs write: a name that ends as the kind does,
// and an existing file is replaced only if it is of that kind and Stave made
// it, or if --yes says so. What the verb reads is never replaced.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stave {

enum class OutputKind : std::uint8_t {
  Run,      // any ending
  Page,     // .html
  Picture,  // .svg, of a finding
  Sarif,    // .sarif, .json
  Array,    // .npy; NumPy's are replaced too
};

struct OutputName {
  std::string_view option;  // "--html"
  std::string path;         // as given; "-", devices and pipes are always free
  OutputKind kind = OutputKind::Run;
};

// STV0930: the ending. STV0913: a file that is no run would be replaced by one. STV0975: as much for the other kinds,
// or it is one of `inputs`.
Result<void> check_output(const OutputName& output, bool replace, std::span<const std::string> inputs = {});

}  // namespace stave
