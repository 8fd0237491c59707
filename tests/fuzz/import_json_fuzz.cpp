// Any bytes as a JSON trace: rows that a sink takes, or an error.
#include <string>

#include "tests/fuzz/import_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Begin as a trace does, so that little is refused by its first bytes.
  std::string text = "{\"traceEvents\": [";
  text.append(reinterpret_cast<const char*>(data), size);
  stave::import_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "json");
  return 0;
}
