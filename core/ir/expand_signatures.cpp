#include "core/ir/expand_signatures.h"

#include <algorithm>

#include "core/ir/expand_text.h"

namespace stave {

Result<const std::vector<FormalType>*> Signatures::types(FunctionId id) {
  const Module& m = names_->module();
  auto& types = types_[id.value];
  const Function& f = m.functions[id];
  if (types.size() == f.formals.size()) return &types;
  for (const Id<Formal> formal_id : f.formals) {
    const Formal& formal = m.formals[formal_id];
    for (const Id<Attr> attr : formal.attrs)
      if (m.text(m.attrs[attr].name) != "uniform")
        return names_->fail(m.attrs[attr].loc, "STV0215", "a parameter has no attribute `{}`; it has uniform",
                            m.text(m.attrs[attr].name));
    TRY(const TypeSize size, views_->size_of(formal.type));
    types.push_back({size, m.types[formal.type].dtype, m.types[formal.type].space});
  }
  return &types;
}

Result<void> Signatures::check_argument(FunctionId function, std::size_t i, const NamedView& v, Loc loc) {
  const Module& m = names_->module();
  TRY(const auto* all, types(function));
  const FormalType& type = (*all)[i];
  const Function& f = m.functions[function];
  const Formal& formal = m.formals[f.formals[i]];
  const Space space = out_->buffers[v.view.buffer].space;
  // Symmetric memory is device memory, so it serves for device parameters.
  const bool same_space = space == type.space || (type.space == Space::Device && space == Space::Symmetric);
  const auto noted = [&](Failure out) {
    out.problems[0].notes.push_back({"the parameter", m.place(formal.loc)});
    return out;
  };
  if (v.view.dtype != type.dtype || !std::ranges::equal(out_->shape(v.view), dims(type.size)) || !same_space)
    return noted(names_->fail(loc, "STV0223", "parameter %{} of @{} is {} {}, got {} {}", m.text(formal.name),
                              m.text(f.name), name_of(type.space), type_text(type.dtype, dims(type.size)),
                              name_of(space), type_text(v.view.dtype, out_->shape(v.view))));
  if (formal.direction != Direction::In && v.access != Access::Writable)
    return noted(names_->fail(loc, "STV0224", "parameter %{} of @{} is {}, but this is {} and must not be written",
                              m.text(formal.name), m.text(f.name), name_of(formal.direction),
                              v.access == Access::In ? "an `in` parameter" : "a constant"));
  return {};
}

Result<void> Signatures::check_reference(const Kernel& kernel, FunctionId id, const Command& c, Loc loc) {
  const Module& m = names_->module();
  const std::string_view name = m.text(kernel.reference.name);
  if (!id) return names_->fail(loc, "STV0290", "the reference @{} is no function", name);
  const Function& f = m.functions[id];
  const std::size_t n = c.operands.size() + c.results.size();
  if (f.formals.size() != n)
    return names_->fail(loc, "STV0291",
                        "the reference @{} takes {} value(s); the kernel has {} operand(s) and {} result(s)", name,
                        f.formals.size(), c.operands.size(), c.results.size());
  TRY(const auto* all, types(id));
  for (std::size_t i = 0; i < n; ++i) {
    const bool written = i >= c.operands.size();
    const View& v = out_->views[ViewId{c.operands.first + i}];
    const Formal& formal = m.formals[f.formals[i]];
    const FormalType& type = (*all)[i];
    if (v.dtype == type.dtype && std::ranges::equal(out_->shape(v), dims(type.size)) &&
        (formal.direction == Direction::In) != written)
      continue;
    Failure out =
        names_->fail(v.loc, "STV0292", "parameter %{} of the reference @{} is {} {}, the kernel's {} is {}",
                     m.text(formal.name), name, name_of(formal.direction), type_text(type.dtype, dims(type.size)),
                     written ? "result" : "operand", type_text(v.dtype, out_->shape(v)));
    out.problems[0].notes.push_back({"the parameter", m.place(formal.loc)});
    return out;
  }
  return {};
}

}  // namespace stave
