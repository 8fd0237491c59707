#include "core/timeline/command_family.h"

namespace stave {

Family family_of(const Payload& payload) {
  return std::visit(
      []<class T>(const T&) {
        if constexpr (std::is_same_v<T, Gemm>) return Family::Gemm;
        switch (T::info.family) {
          case OpFamily::Memory: return Family::Memory;
          case OpFamily::Compute: return Family::Compute;
          case OpFamily::Control: return Family::Control;
          case OpFamily::Stream: return Family::Stream;
          case OpFamily::Collective: return Family::Collective;
          case OpFamily::Mark: return Family::Mark;
          default: return Family::Other;
        }
      },
      payload);
}

}  // namespace stave
