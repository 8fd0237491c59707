// Which items of two sequences belong together: in order, with few left over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stave {

struct SequenceMatch {
  std::uint32_t a = 0;  // position in the first sequence
  std::uint32_t b = 0;

  friend bool operator==(const SequenceMatch&, const SequenceMatch&) = default;
};

// Pairs of equal tokens, rising in both sequences. As many as there can be while
// the sequences are short or differ little (Myers, "An O(ND) difference algorithm",
// 1986). Longer ones are searched from the front, a piece at a time, while the
// pieces are more alike than not; then they are split at tokens that are unique in
// both (patience), or else at the n-th of each token with the n-th. Near-linear.
// Exchanging the sequences exchanges the sides of the pairs, and nothing else.
std::vector<SequenceMatch> sequence_diff(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace stave
