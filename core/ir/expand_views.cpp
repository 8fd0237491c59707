#include "core/ir/expand_views.h"

#include "core/ir/expand_text.h"

namespace stave {

Result<TypeSize> Views::size_of(TypeId id) {
  const TypeExpr& type = names_->module().types[id];
  TypeSize out;
  out.shape.first = static_cast<std::uint32_t>(out_->dims.size());
  out.shape.count = static_cast<std::uint32_t>(type.dims.size());
  const std::int64_t max_elements = max_buffer_bytes * 8 / bits_of(type.dtype);
  for (const auto at : type.dims) {
    const ExprId expr = names_->module().expr_lists[at];
    TRY(const std::int64_t dim, names_->integer(expr));
    if (dim < 1) return names_->fail(names_->expr(expr).loc, "STV0278", "a dimension must be at least 1, got {}", dim);
    if (dim > max_elements / out.elements)
      return names_->fail(names_->expr(expr).loc, "STV0279",
                          "a buffer has at most {} bytes; dimension {} makes it larger", max_buffer_bytes, dim);
    out.elements *= dim;
    out_->dims.add(dim);
  }
  out.bytes = (out.elements * bits_of(type.dtype) + 7) / 8;
  return out;
}

Result<void> Views::check_bounds(CoordInt begin, std::int64_t length, std::int64_t dim, Loc loc, bool slice) const {
  const CoordFacts facts = names_->coords()->facts(begin);
  if (facts.low >= 0 && facts.high <= dim - length) return {};
  const Mesh& mesh = names_->mesh();
  std::int64_t bad = facts.low;
  std::string where;
  const bool fine = for_each_coordinate(mesh, facts.axes, [&](std::span<const std::int64_t> at) {
    bad = value_at(names_->coords()->exprs(), begin, at);
    if (bad >= 0 && bad <= dim - length) return true;
    where = coordinates_text(mesh, facts.axes, at);
    return false;
  });
  if (fine) return {};
  const std::string place = where.empty() ? "" : fmt::format(" at {}", where);
  if (bad < 0) return names_->fail(loc, "STV0270", "an offset must not be negative, got {}{}", bad, place);
  if (!slice) return names_->fail(loc, "STV0271", "index {} is outside a dimension of {}{}", bad, dim, place);
  // An offset may be any 64-bit number, so its end may need more bits.
  return names_->fail(loc, "STV0271", "the slice {} : {} ends outside a dimension of {}{}", bad,
                      static_cast<__int128>(bad) + length, dim, place);
}

Result<std::int64_t> Views::length(CoordInt begin, CoordInt end, Loc loc) {
  CoordPool& coords = *names_->coords();
  const CoordPool::Answer answer = coords.combine(CoordExpr::Op::Sub, end, begin);
  if (!answer.problem.empty()) return names_->fail(loc, "STV0242", "the length of the slice {}", answer.problem);
  const CoordInt difference = answer.value;
  if (!difference.varying) return difference.constant;
  std::optional<std::int64_t> first;
  std::int64_t other = 0;
  const bool same =
      for_each_coordinate(names_->mesh(), coords.facts(difference).axes, [&](std::span<const std::int64_t> at) {
        other = value_at(coords.exprs(), difference, at);
        if (!first) first = other;
        return *first == other;
      });
  if (!same)
    return names_->fail(loc, "STV0276",
                        "the length of a slice must be the same on all ranks, got {} and {}; write [begin : +length]",
                        *first, other);
  return *first;
}

Result<Views::Slice> Views::slice(const Index& index, std::int64_t dim, Loc loc) {
  Slice out;
  if (index.begin) {
    TRY(out.begin, names_->coord_integer(index.begin));
    loc = names_->expr(index.begin).loc;
  }
  if (index.kind != Index::Kind::At) {
    out.drops = false;
    if (index.kind == Index::Kind::Sized) {
      TRY(out.length, names_->integer(index.end));
    } else {
      CoordInt end{dim, {}};
      if (index.end) {
        TRY(end, names_->coord_integer(index.end));
      }
      TRY(out.length, length(out.begin, end, loc));
    }
    if (out.length < 1) return names_->fail(loc, "STV0272", "a slice must have at least 1 element, got {}", out.length);
  }
  TRY_VOID(check_bounds(out.begin, out.length, dim, loc, !out.drops));
  return out;
}

Result<CoordInt> Views::byte_offset(CoordInt begin, std::int64_t row_bits, Dtype dtype, Loc loc) {
  CoordPool& coords = *names_->coords();
  if (!begin.varying) {
    const std::int64_t bits = begin.constant * row_bits;
    if (bits % 8 == 0) return CoordInt{bits / 8, {}};
    return names_->fail(loc, "STV0273", "a view starts at a whole byte; {} elements of {} are {} bits before it",
                        bits / bits_of(dtype), name_of(dtype), bits);
  }
  const auto scaled = [&](CoordInt by, std::int64_t factor, CoordExpr::Op kind) -> Result<CoordInt> {
    const auto [value, problem] = coords.combine(kind, by, {factor, {}});
    if (!problem.empty()) return names_->fail(loc, "STV0242", "the offset of a view in bytes {}", problem);
    return value;
  };
  if (row_bits % 8 == 0) return scaled(begin, row_bits / 8, CoordExpr::Op::Mul);
  TRY(const CoordInt bits, scaled(begin, row_bits, CoordExpr::Op::Mul));
  const std::uint64_t axes = coords.facts(bits).axes;
  std::string where;
  std::int64_t bad = 0;
  const bool aligned = for_each_coordinate(names_->mesh(), axes, [&](std::span<const std::int64_t> at) {
    bad = value_at(coords.exprs(), bits, at);
    where = coordinates_text(names_->mesh(), axes, at);
    return floor_mod(bad, 8) == 0;
  });
  if (!aligned)
    return names_->fail(loc, "STV0273", "a view starts at a whole byte; {} elements of {} are {} bits before it at {}",
                        bad / bits_of(dtype), name_of(dtype), bad, where);
  return scaled(bits, 8, CoordExpr::Op::Div);
}

Result<View> Views::reinterpret(View view, TypeId id, Loc loc) {
  const TypeExpr& type = names_->module().types[id];
  const std::int64_t bits = out_->elements(view) * bits_of(view.dtype);
  TRY(const TypeSize size, size_of(id));
  if (size.elements * bits_of(type.dtype) != bits)
    return names_->fail(
        type.loc == no_loc ? loc : type.loc, "STV0277", "`as` keeps the size: {} has {} bits, {} has {}",
        type_text(view.dtype, out_->shape(view)), bits,
        type_text(type.dtype,
                  std::span<const std::int64_t>(out_->dims.raw()).subspan(size.shape.first, size.shape.count)),
        size.elements * bits_of(type.dtype));
  if (type.space != Space::Device && type.space != out_->buffers[view.buffer].space)
    return names_->fail(type.loc == no_loc ? loc : type.loc, "STV0280",
                        "`as` keeps the memory: the buffer is in {} memory, not {}",
                        name_of(out_->buffers[view.buffer].space), name_of(type.space));
  view.dtype = type.dtype;
  view.shape = size.shape;
  return view;
}

Result<View> Views::resolve(const View& base, const ViewRef& ref) {
  View view = base;
  view.loc = ref.loc;
  bool sliced = false;
  for (const Id<Index> id : ref.indices) {
    const Index& index = names_->module().indices[id];
    const Loc loc = index.begin ? names_->expr(index.begin).loc : ref.loc;
    if (sliced)
      return names_->fail(
          loc, "STV0275",
          "nothing may follow a slice, because bytes would not be consecutive; name the slice with view");
    if (view.shape.empty())
      return names_->fail(loc, "STV0274", "too many indices: %{} has no dimension left",
                          names_->module().text(ref.value));
    const std::int64_t dim = out_->dims[Id<DimTag>{view.shape.first}];
    TRY(const Slice part, slice(index, dim, loc));
    std::int64_t row_bits = bits_of(view.dtype);
    for (std::uint32_t i = 1; i < view.shape.count; ++i) row_bits *= out_->dims[Id<DimTag>{view.shape.first + i}];
    TRY(const CoordInt offset, byte_offset(part.begin, row_bits, view.dtype, loc));
    const auto [total, problem] = names_->coords()->combine(CoordExpr::Op::Add, view.offset, offset);
    if (!problem.empty()) return names_->fail(loc, "STV0242", "the offset {}", problem);
    view.offset = total;
    const std::int64_t bits = part.length * row_bits;
    if (bits % 8 != 0 && part.length != dim)
      return names_->fail(loc, "STV0273", "a view ends at a whole byte; {} elements of {} have {} bits",
                          bits / bits_of(view.dtype), name_of(view.dtype), bits);
    view.bytes = (bits + 7) / 8;
    if (part.drops) {
      ++view.shape.first;
      --view.shape.count;
      continue;
    }
    sliced = true;
    if (part.length == dim) continue;
    const std::uint32_t first = static_cast<std::uint32_t>(out_->dims.size());
    out_->dims.add(part.length);
    for (std::uint32_t i = 1; i < view.shape.count; ++i)
      out_->dims.add(std::int64_t{out_->dims[Id<DimTag>{view.shape.first + i}]});
    view.shape.first = first;
  }
  if (ref.as) return reinterpret(view, ref.as, ref.loc);
  return view;
}

}  // namespace stave
