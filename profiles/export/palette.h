// Colours of families that people with any colour vision tell apart: Okabe and
// Ito, "Color Universal Design" (2008), the yellow of waits paler; greys for what is not
// work of a device.
#pragma once

#include <string_view>

#include "core/timeline/family.h"

namespace stave {

struct Paint {
  std::string_view fill;
  std::string_view text;  // readable on it: contrast of 4.5 at least
};

constexpr Paint paint_of(Family family) {
  switch (family) {
    case Family::Gemm: return {"#0072b2", "#ffffff"};
    case Family::Compute: return {"#56b4e9", "#000000"};
    case Family::Memory: return {"#e69f00", "#000000"};
    case Family::Collective: return {"#d55e00", "#000000"};
    case Family::Control: return {"#cc79a7", "#000000"};
    case Family::HostApi: return {"#009e73", "#000000"};
    case Family::Stream: return {"#e9e3a6", "#000000"};
    case Family::Host: return {"#b3b3b3", "#000000"};
    case Family::Mark: return {"#d9d9d9", "#000000"};
    case Family::Idle: return {"#f2f2f2", "#000000"};
    case Family::Other: break;
  }
  return {"#999999", "#000000"};
}

}  // namespace stave
