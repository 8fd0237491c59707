// The words for directions of copies and kinds of memory; their positions are
// the numbers of CUPTI's CUpti_ActivityMemcpyKind and of Nsight's ENUM_CUDA_MEM_KIND.
#pragma once

#include <cstdint>
#include <string_view>

namespace stave {

inline constexpr std::string_view copy_kinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                  "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
inline constexpr std::string_view memory_kinds[] = {"Pageable", "Pinned", "Device", "Array", "Managed"};
inline constexpr std::uint32_t pageable_memory = 0;

}  // namespace stave
