// The product's main job on one screen: a ring collective matmul over two GPUs,
// read from text, checked, executed on the CPU and compared with a plain matmul,
// predicted on a 2 x H200 machine, stored.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stave {

struct DemoOptions {
  std::string output = "demo.sqlite";  // the stored prediction
};

// Calls `say` with each piece of text as it is ready. Failing: something did not
// hold, such as a result that differs from the plain matmul (STV0911).
Result<void> demo(const DemoOptions& options, const std::function<void(std::string_view)>& say);

}  // namespace stave
