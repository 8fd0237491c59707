#include "analysis/slice_tokens.h"

#include <algorithm>
#include <unordered_map>

namespace stave {
namespace {

using Runs = std::array<const Timeline*, 2>;

std::array<std::vector<std::uint32_t>, 2> name_tokens(const Runs& runs) {
  std::vector<std::string_view> texts;
  for (const Timeline* run : runs)
    for (std::size_t i = 0; i < run->names().size(); ++i) texts.push_back(run->names()[StringId{i}]);
  texts.emplace_back();  // of slices without a name
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::array<std::vector<std::uint32_t>, 2> tokens;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::vector<std::uint32_t> of_name(runs[r]->names().size());
    for (std::size_t i = 0; i < of_name.size(); ++i)
      of_name[i] = static_cast<std::uint32_t>(
          std::lower_bound(texts.begin(), texts.end(), runs[r]->names()[StringId{i}]) - texts.begin());
    tokens[r].reserve(runs[r]->slices().size());
    for (const Slice& slice : runs[r]->slices()) tokens[r].push_back(slice.name ? of_name[slice.name.value] : 0);
  }
  return tokens;
}

// The name, and the dimensions and bytes or -1.
using Shape = std::array<std::int64_t, 8>;

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const {
    std::uint64_t hash = 0;
    for (const std::int64_t part : shape) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

struct Known {
  bool grid = false, block = false, bytes = false;
};

Known known_in(const Timeline& run) {
  Known known;
  for (const KernelDetail& kernel : run.kernels()) {
    known.grid = known.grid || kernel.grid;
    known.block = known.block || kernel.block;
    if (known.grid && known.block) break;
  }
  known.bytes = std::any_of(run.copies().begin(), run.copies().end(),
                            [](const CopyDetail& copy) { return copy.bytes.has_value(); });
  return known;
}

}  // namespace

SliceTokens slice_tokens(const Timeline& a, const Timeline& b) {
  const Runs runs{&a, &b};
  SliceTokens tokens{.names = name_tokens(runs), .shapes = {}};
  const Known in_a = known_in(a), in_b = known_in(b);
  const Known both{in_a.grid && in_b.grid, in_a.block && in_b.block, in_a.bytes && in_b.bytes};
  if (!both.grid && !both.block && !both.bytes) return tokens;

  std::unordered_map<Shape, std::uint32_t, ShapeHash> numbers;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Timeline& run = *runs[r];
    std::vector<std::uint32_t>& out = tokens.shapes[r];
    out.reserve(run.slices().size());
    auto kernel = run.kernels().begin();
    auto copy = run.copies().begin();
    for (std::uint32_t row = 0; row < run.slices().size(); ++row) {
      Shape shape;
      shape.fill(-1);
      shape[0] = tokens.names[r][row];
      while (kernel != run.kernels().end() && kernel->slice.row() < row) ++kernel;
      if (kernel != run.kernels().end() && kernel->slice.row() == row)
        for (std::size_t d = 0; d < 3; ++d) {
          if (both.grid && kernel->grid) shape[1 + d] = (*kernel->grid)[d];
          if (both.block && kernel->block) shape[4 + d] = (*kernel->block)[d];
        }
      while (copy != run.copies().end() && copy->slice.row() < row) ++copy;
      if (copy != run.copies().end() && copy->slice.row() == row && both.bytes) shape[7] = copy->bytes.value_or(-1);
      out.push_back(numbers.try_emplace(shape, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
  }
  // Numbered as they came; the order of the shapes themselves is the same from both sides.
  std::vector<std::pair<Shape, std::uint32_t>> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint32_t> renumbered(sorted.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) renumbered[sorted[i].second] = i;
  for (std::vector<std::uint32_t>& run : tokens.shapes)
    for (std::uint32_t& token : run) token = renumbered[token];
  return tokens;
}

}  // namespace stave
