// Any bytes as the content of a device's plane: rows that a sink takes, or an error.
#include <string>

#include "tests/fuzz/import_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name("\x12\x0d/device:GPU:0", 15);
  std::string text = "\x0a";
  for (std::size_t n = name.size() + size;; n >>= 7) {
    text += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
    if (n <= 0x7f) break;
  }
  text += name;
  text.append(reinterpret_cast<const char*>(data), size);
  stave::import_bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "xplane");
  return 0;
}
