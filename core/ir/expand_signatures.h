// Parameters of functions, and what a call or a kernel's `reference` gives for them.
#pragma once

#include <vector>

#include "core/ir/expand_scopes.h"
#include "core/ir/expand_views.h"

namespace stave {

struct FormalType {
  TypeSize size;
  Dtype dtype = Dtype::F32;
  Space space = Space::Device;
};

class Signatures {
 public:
  Signatures(Evaluation& names, Views& views, const Expanded& out)
      : names_(&names), views_(&views), out_(&out), types_(names.module().functions.size()) {}

  // Types of a function's parameters, evaluated once: they hold params and axis sizes only.
  Result<const std::vector<FormalType>*> types(FunctionId function);
  // Parameter `i` of a call: dtype, shape and memory are equal, and what is
  // written may be written.
  Result<void> check_argument(FunctionId function, std::size_t i, const NamedView& view, Loc loc);
  // A kernel's meaning: a function of the operands, then the results.
  Result<void> check_reference(const Kernel& kernel, FunctionId function, const Command& command, Loc loc);

 private:
  std::span<const std::int64_t> dims(const TypeSize& size) const {
    return std::span<const std::int64_t>(out_->dims.raw()).subspan(size.shape.first, size.shape.count);
  }

  Evaluation* names_;
  Views* views_;
  const Expanded* out_;
  std::vector<std::vector<FormalType>> types_;  // by FunctionId
};

}  // namespace stave
