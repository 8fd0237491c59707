// The CSV tables beside a machine file: whole numbers under a fixed header.
//   gemm        m,n,k,sm_count,ctas,time_ps
//   collective  op,ranks,bytes,time_ps
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"

namespace stave {

inline constexpr std::size_t max_table_bytes = std::size_t{64} << 20;

// Errors: STV0607 for a row that does not fit, STV0610 for a row given twice.
Result<std::vector<GemmRow>> parse_gemm_csv(const std::string& file, std::string_view text);
Result<std::vector<CollectiveRow>> parse_collective_csv(const std::string& file, std::string_view text);

}  // namespace stave
