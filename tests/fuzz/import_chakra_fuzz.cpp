// Any bytes behind a Chakra trace's first node: rows that a sink takes, or an error.
#include <string>

#include "tests/fuzz/import_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(
      "\x07\x0a\x05"
      "0.0.4"
      "\x09\x08\x01\x12\x01k\x30\x64\x38\x05",
      18);
  text.append(reinterpret_cast<const char*>(data), size);
  stave::import_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "chakra");
  return 0;
}
