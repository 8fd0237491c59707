// Any bytes are a machine or located problems. Tables are answered from memory: no file is opened.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/sha256.h"
#include "core/machine/machine.h"
#include "core/machine/table_csv.h"
#include "core/machine/times.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stave;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadTable tables = [](const std::string& csv) -> Result<std::string> {
    return std::string(csv.starts_with("c") ? "op,ranks,bytes,time_ps\nall_reduce,2,8,5\nall_reduce,2,16,9\n"
                                            : "m,n,k,sm_count,ctas,time_ps\n64,64,64,0,0,4000000\n");
  };
  const auto machine = parse_machine("fuzz.toml", text, tables);
  if (!machine) {
    for (const Problem& problem : machine.problems())
      if (problem.code.empty() || problem.message.empty()) std::abort();
  } else {
    (void)summary(*machine);
    if (gemm_time(*machine, "bf16", 100, 200, 300).time <= 0_ps) std::abort();
    (void)collective_time(*machine, "all_reduce", 4, 1_MiB);
  }
  (void)parse_gemm_csv("fuzz.csv", text);
  (void)parse_collective_csv("fuzz.csv", text);
  return 0;
}
