// Any bytes behind a packet of a Perfetto trace: rows that a sink takes, or an error.
#include <string>

#include "tests/fuzz/import_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Begin as a trace does, so that nothing is refused by its first bytes: a track of a thread.
  std::string text("\x0a\x0b\xe2\x03\x06\x08\x02\x22\x02\x10\x65\x50\x01", 13);
  text.append(reinterpret_cast<const char*>(data), size);
  stave::import_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "perfetto");
  return 0;
}
