#include "executor/reference/memory.h"

#include <algorithm>

#include "core/ir/interpret/number.h"

namespace stave {

namespace {

constexpr std::byte undefined{0xff};

void write_constant(const Literals& literals, Dtype dtype, std::span<std::byte> bytes, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements && !literals.empty(); ++i) {
    const Scalar& s = literals[literals.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    if (is_float(dtype))
      store_double(bytes, dtype, static_cast<std::size_t>(i),
                   is_float(s.dtype) ? s.number : static_cast<double>(s.integer));
    else
      store_signed(bytes, dtype, static_cast<std::size_t>(i), s.integer);
  }
}

}  // namespace

Memory::Memory(const Expanded& expanded) {
  for (const Buffer& b : expanded.buffers) {
    std::vector<std::byte>& bytes = buffers_.emplace_back(static_cast<std::size_t>(b.bytes), undefined);
    if (b.kind == Buffer::Kind::Constant)
      write_constant(expanded.literals[b.literals], b.dtype, bytes, elements_of(b.shape));
  }
}

void Memory::forget_scratch(const Expanded& expanded) {
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (expanded.buffers[BufferId{i}].kind == Buffer::Kind::Scratch)
      std::fill(buffers_[i].begin(), buffers_[i].end(), undefined);
}

Operand Memory::view(const Expanded& expanded, ViewId id, Rank rank) {
  const View& v = expanded[id];
  const auto offset = static_cast<std::size_t>(expanded.at(v.offset, rank));
  return {buffer(v.buffer).subspan(offset, static_cast<std::size_t>(v.bytes)), v.dtype, expanded.shape(v)};
}

std::vector<ConstOperand> Memory::operands(const Expanded& expanded, const Command& command, Rank rank) {
  std::vector<ConstOperand> out;
  for (const ViewId id : command.operands) out.push_back(view(expanded, id, rank));
  return out;
}

std::vector<Operand> Memory::results(const Expanded& expanded, const Command& command, Rank rank) {
  std::vector<Operand> out;
  for (const ViewId id : command.results) out.push_back(view(expanded, id, rank));
  return out;
}

std::int64_t Memory::predicate(const Expanded& expanded, const Command& command, Rank rank) {
  const Operand o = view(expanded, command.operands[0], rank);
  return load_signed(o.bytes, o.dtype, 0);
}

}  // namespace stave
