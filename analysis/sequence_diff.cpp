#include "analysis/sequence_diff.h"

#include <algorithm>

namespace stave {
namespace {

using Positions = std::vector<std::uint32_t>;

// Chosen: sequences of together 200 tokens are always matched best; beyond that, more
// edits a search cost time and hardly match more (1 M tokens, one in 20 changed:
// 0.46, 0.91, 1.4 s and 90.2 % with 256, 512, 1024).
constexpr std::int64_t most_edits = 512;
constexpr std::int64_t steps_of_a_search = 32768;
constexpr std::int64_t steps_a_token = 48;  // that all searches together may take beyond that
// Beyond it nothing is split any more: each level reads its tokens once.
constexpr int deepest = 24;
constexpr std::uint32_t nowhere = 0xffffffff;

class Differ {
 public:
  Differ(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) : a_(a), b_(b) {
    std::uint32_t most = 0;
    for (const auto token : a) most = std::max(most, token);
    for (const auto token : b) most = std::max(most, token);
    seen_.resize(std::size_t{most} + 1);
    steps_left_ = steps_a_token * static_cast<std::int64_t>(a.size() + b.size());
  }

  std::vector<SequenceMatch> run() {
    Positions a(a_.size()), b(b_.size());
    for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = i;
    for (std::uint32_t i = 0; i < b.size(); ++i) b[i] = i;
    stretch(std::move(a), std::move(b), 0);
    std::sort(out_.begin(), out_.end(), [](const SequenceMatch& x, const SequenceMatch& y) { return x.a < y.a; });
    return std::move(out_);
  }

 private:
  // What a stretch knows of a token, valid while `stamp` is the stretch's.
  struct Seen {
    std::uint32_t stamp = 0;
    std::uint32_t in_a = 0, in_b = 0;  // how often
    std::uint32_t at = nowhere;
    std::uint32_t next = 0;
  };

  Seen& seen(std::uint32_t token) {
    Seen& of = seen_[token];
    if (of.stamp != stamp_) of = {.stamp = stamp_};
    return of;
  }

  void count(const Positions& a, const Positions& b) {
    ++stamp_;
    for (const auto i : a) ++seen(a_[i]).in_a;
    for (const auto i : b) ++seen(b_[i]).in_b;
  }

  void stretch(Positions a, Positions b, int depth) {
    trim(a, b);
    // A token that only one side has can match nothing.
    count(a, b);
    std::erase_if(a, [&](std::uint32_t i) { return seen(a_[i]).in_b == 0; });
    std::erase_if(b, [&](std::uint32_t i) { return seen(b_[i]).in_a == 0; });
    trim(a, b);
    if (few_edits(a, b, depth == deepest)) return;
    const std::vector<SequenceMatch> anchors = anchors_of(a, b);
    std::size_t from_a = 0, from_b = 0;
    const auto between = [&](std::size_t to_a, std::size_t to_b) {
      if (from_a < to_a && from_b < to_b)
        stretch(
            Positions(a.begin() + static_cast<std::ptrdiff_t>(from_a), a.begin() + static_cast<std::ptrdiff_t>(to_a)),
            Positions(b.begin() + static_cast<std::ptrdiff_t>(from_b), b.begin() + static_cast<std::ptrdiff_t>(to_b)),
            depth + 1);
    };
    for (const SequenceMatch& anchor : anchors) {
      between(anchor.a, anchor.b);
      out_.push_back({a[anchor.a], b[anchor.b]});
      from_a = anchor.a + 1;
      from_b = anchor.b + 1;
    }
    between(a.size(), b.size());
  }

  // Matches what both begin and end with.
  void trim(Positions& a, Positions& b) {
    std::size_t first = 0, last = 0;
    const std::size_t most = std::min(a.size(), b.size());
    while (first < most && a_[a[first]] == b_[b[first]]) {
      out_.push_back({a[first], b[first]});
      ++first;
    }
    while (last < most - first && a_[a[a.size() - 1 - last]] == b_[b[b.size() - 1 - last]]) {
      out_.push_back({a[a.size() - 1 - last], b[b.size() - 1 - last]});
      ++last;
    }
    for (Positions* side : {&a, &b}) {
      side->resize(side->size() - last);
      side->erase(side->begin(), side->begin() + static_cast<std::ptrdiff_t>(first));
    }
  }

  // Matches from the front, search by search, while what is found is more alike than
  // not, and takes that away; true when nothing is left.
  bool few_edits(Positions& a, Positions& b, bool in_any_case) {
    std::span<const std::uint32_t> left_a(a), left_b(b);
    while (!left_a.empty() && !left_b.empty()) {
      const Reached reached = search(left_a, left_b);
      const bool alike = reached.a + reached.b >= 2 * reached.edits;
      if (!reached.all && !alike && !in_any_case) break;
      // The way to the furthest point is the less certain the nearer to it.
      const std::int64_t keep = reached.all ? reached.edits : std::max<std::int64_t>(1, reached.edits * 3 / 4);
      const auto [used_a, used_b] = walk_back(left_a, left_b, reached, keep);
      if (reached.all) return true;
      left_a = left_a.subspan(used_a);
      left_b = left_b.subspan(used_b);
    }
    a.erase(a.begin(), a.end() - static_cast<std::ptrdiff_t>(left_a.size()));
    b.erase(b.begin(), b.end() - static_cast<std::ptrdiff_t>(left_b.size()));
    return a.empty() || b.empty();
  }

  struct Reached {
    bool all = false;  // both sequences to their ends; otherwise the furthest point
    std::int64_t edits = 0;
    std::int64_t a = 0, b = 0;
  };

  // Myers' greedy search: reach_[at(d, k)] is how far in `a` d edits get on diagonal
  // k (position in a - position in b), for k = -d, -d + 2, ... d.
  Reached search(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
    const auto n = static_cast<std::int64_t>(a.size()), m = static_cast<std::int64_t>(b.size());
    std::int64_t steps = std::max(steps_left_, steps_of_a_search);
    Reached furthest;
    reach_.clear();
    for (std::int64_t d = 0; d <= most_edits && steps > 0; ++d) {
      reach_.resize(at(d, d) + 1);
      furthest = {};
      for (std::int64_t k = -d; k <= d; k += 2) {
        std::int64_t x = 0;
        if (d > 0) x = skips_b(d, k) ? reach_[at(d - 1, k + 1)] : reach_[at(d - 1, k - 1)] + 1;
        const std::int64_t begin = x;
        while (x < n && x - k < m && a_[a[static_cast<std::size_t>(x)]] == b_[b[static_cast<std::size_t>(x - k)]]) ++x;
        reach_[at(d, k)] = static_cast<std::int32_t>(x);
        steps -= x - begin + 1;
        steps_left_ -= x - begin + 1;
        if (x >= n && x - k >= m) return {true, d, n, m};
        if (x <= n && x - k <= m && 2 * x - k > furthest.a + furthest.b) furthest = {false, d, x, x - k};
      }
    }
    return furthest;
  }

  static std::size_t at(std::int64_t d, std::int64_t k) {
    return static_cast<std::size_t>(d * (d + 1) / 2 + (k + d) / 2);
  }

  // Whether d edits get furthest on diagonal k by skipping an item of `b`.
  bool skips_b(std::int64_t d, std::int64_t k) const {
    return k == -d || (k != d && reach_[at(d - 1, k - 1)] < reach_[at(d - 1, k + 1)]);
  }

  // Matches what lies on the way to a point, as far as `keep` edits go; how many items that used up.
  std::pair<std::size_t, std::size_t> walk_back(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                                const Reached& to, std::int64_t keep) {
    std::int64_t k = to.a - to.b, x = to.a;
    std::pair<std::size_t, std::size_t> used;
    for (std::int64_t d = to.edits;; --d) {
      std::int64_t begin = 0, next = 0;
      if (d > 0) {
        const bool skip = skips_b(d, k);
        next = skip ? k + 1 : k - 1;
        begin = reach_[at(d - 1, next)] + (skip ? 0 : 1);
      }
      if (d == keep) used = {static_cast<std::size_t>(x), static_cast<std::size_t>(x - k)};
      for (; x > begin; --x)
        if (d <= keep) out_.push_back({a[static_cast<std::size_t>(x - 1)], b[static_cast<std::size_t>(x - 1 - k)]});
      if (d == 0) return used;
      k = next;
      x = reach_[at(d - 1, k)];
    }
  }

  // Tokens that are unique in both, or else the n-th of each with the n-th: the
  // longest run of them that rises in both. Positions are those in `a` and `b`.
  std::vector<SequenceMatch> anchors_of(const Positions& a, const Positions& b) {
    count(a, b);
    std::vector<SequenceMatch> pairs;
    for (std::uint32_t j = 0; j < b.size(); ++j)
      if (Seen& of = seen(b_[b[j]]); of.in_a == 1 && of.in_b == 1) of.at = j;
    for (std::uint32_t i = 0; i < a.size(); ++i)
      if (const Seen& of = seen(a_[a[i]]); of.in_a == 1 && of.in_b == 1) pairs.push_back({i, of.at});
    if (pairs.empty()) pairs = nth_with_nth(a, b);
    return longest_rising(pairs);
  }

  std::vector<SequenceMatch> nth_with_nth(const Positions& a, const Positions& b) {
    // Positions in `b` by token, each token's from `at` on.
    Positions by_token(b.size());
    std::uint32_t first = 0;
    for (std::uint32_t j = 0; j < b.size(); ++j) {
      Seen& of = seen(b_[b[j]]);
      if (of.at == nowhere) {
        of.at = first;
        first += of.in_b;
      }
      by_token[of.at + of.next++] = j;
    }
    for (const auto j : b) seen(b_[j]).next = 0;
    std::vector<SequenceMatch> pairs;
    for (std::uint32_t i = 0; i < a.size(); ++i)
      if (Seen& of = seen(a_[a[i]]); of.next < of.in_b) pairs.push_back({i, by_token[of.at + of.next++]});
    return pairs;
  }

  // `pairs` rise in a. Patience sorting.
  static std::vector<SequenceMatch> longest_rising(const std::vector<SequenceMatch>& pairs) {
    std::vector<std::uint32_t> tops;  // the pair with the smallest b that ends a run of each length
    std::vector<std::uint32_t> before(pairs.size(), 0);
    for (std::uint32_t i = 0; i < pairs.size(); ++i) {
      const auto at = std::lower_bound(tops.begin(), tops.end(), pairs[i].b,
                                       [&](std::uint32_t top, std::uint32_t b) { return pairs[top].b < b; });
      if (at != tops.begin()) before[i] = *(at - 1);
      if (at == tops.end())
        tops.push_back(i);
      else
        *at = i;
    }
    std::vector<SequenceMatch> run(tops.size());
    if (tops.empty()) return run;
    std::uint32_t i = tops.back();
    for (std::size_t length = run.size(); length > 0; --length, i = before[i]) run[length - 1] = pairs[i];
    return run;
  }

  std::span<const std::uint32_t> a_, b_;
  std::vector<Seen> seen_;  // by token
  std::uint32_t stamp_ = 0;
  std::vector<std::int32_t> reach_;
  std::int64_t steps_left_ = 0;
  std::vector<SequenceMatch> out_;
};

}  // namespace

std::vector<SequenceMatch> sequence_diff(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.empty() || b.empty()) return {};
  // Of several best answers the search prefers one side: always the same sequence's.
  const bool swapped =
      a.size() != b.size() ? a.size() > b.size() : std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end());
  if (swapped) std::swap(a, b);
  // Tables by token must not be longer than the sequences.
  std::vector<std::uint32_t> dense_a, dense_b;
  if (std::max(*std::max_element(a.begin(), a.end()), *std::max_element(b.begin(), b.end())) >
      2 * (a.size() + b.size())) {
    std::vector<std::uint32_t> values(a.begin(), a.end());
    values.insert(values.end(), b.begin(), b.end());
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const auto dense = [&](std::span<const std::uint32_t> from, std::vector<std::uint32_t>& to) {
      to.reserve(from.size());
      for (const auto token : from)
        to.push_back(
            static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), token) - values.begin()));
      return std::span<const std::uint32_t>(to);
    };
    a = dense(a, dense_a);
    b = dense(b, dense_b);
  }
  std::vector<SequenceMatch> matches = Differ(a, b).run();
  if (swapped)
    for (SequenceMatch& match : matches) std::swap(match.a, match.b);
  return matches;
}

}  // namespace stave
