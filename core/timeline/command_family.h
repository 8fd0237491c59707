#pragma once

#include "core/ir/ops.h"
#include "core/timeline/family.h"

namespace stave {

// What the slices of a command are about.
Family family_of(const Payload& payload);

}  // namespace stave
