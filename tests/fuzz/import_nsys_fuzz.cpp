// Any bytes as an export of Nsight Systems: rows that a sink takes, or an error.
#include "tests/fuzz/import_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stave::import_bytes(data, size, "nsys");
  return 0;
}
