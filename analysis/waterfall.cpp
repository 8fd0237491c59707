#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/compare.h"
#include "analysis/sequence_diff.h"

namespace stave {
namespace {

// What a slice has of its run's critical path.
struct OnPath {
  Picoseconds work{};
  Picoseconds wait{};  // of a collective
  Picoseconds gap{};   // before it

  bool at_work() const { return work + wait != Picoseconds{0}; }
};

// A run's critical path by slices on devices. What else is on it (hosts, gaps) is
// the gap of the slice on a device that comes next; after the last one, `rest`.
struct PathUse {
  explicit PathUse(const RunPart& part) : timeline(&part.index->timeline()), of(timeline->slices().size()) {
    for (const PathPart& at : critical_path(*part.index, part.window.span)) {
      const std::uint32_t row = at.slice.row();
      if (at.kind == PathPart::Kind::Gap || part.index->work(row) == WorkKind::None) {
        rest += at.duration;
        continue;
      }
      const Time moves = timeline->slice(at.slice).start + part.index->waits(row).sum();
      const Picoseconds wait = std::clamp(moves - at.start, Picoseconds{0}, at.duration);
      of[row].wait += wait;
      of[row].work += at.duration - wait;
      of[row].gap += std::exchange(rest, Picoseconds{0});
    }
  }

  const OnPath& operator[](SliceId slice) const { return of[slice.row()]; }
  std::uint32_t rank(SliceId slice) const { return timeline->track(timeline->slice(slice).track).rank; }
  Time start(SliceId slice) const { return timeline->slice(slice).start; }

  const Timeline* timeline;
  std::vector<OnPath> of;  // by slice row
  Picoseconds rest{};
};

class Waterfall {
 public:
  Waterfall(const RunPart& a, const RunPart& b) : a_(a), b_(b), first_a_(first_step(a)), first_b_(first_step(b)) {}

  std::vector<Contribution> run(const Alignment& alignment, Picoseconds delta) {
    std::vector<SlicePair> left_a, left_b;  // on the path of A only, of B only
    const auto matched = [&](const SlicePair& pair) {
      const bool on_a = a_[pair.a].at_work(), on_b = b_[pair.b].at_work();
      if (on_a == on_b)
        both(pair.a, pair.b);
      else
        (on_a ? left_a : left_b).push_back(pair);
    };
    for (const SlicePair& pair : alignment.matched) matched(pair);
    for (const SlicePair& pair : alignment.other_steps) {
      if (pair.a && pair.b)
        matched(pair);
      else if (pair.a)
        on_path_of_a(Contribution::Kind::Path, pair);
      else
        on_path_of_b(Contribution::Kind::Path, pair);
    }
    moved_to_another_rank(left_a, left_b);
    for (const SliceId slice : alignment.only_a) on_path_of_a(Contribution::Kind::Removed, {.a = slice, .b = {}});
    for (const SliceId slice : alignment.only_b) on_path_of_b(Contribution::Kind::Inserted, {.a = {}, .b = slice});
    add(Contribution::Kind::Gap, b_.rest - a_.rest, {}, {});
    for (const Contribution& part : out_) delta -= part.delta;
    add(Contribution::Kind::Unexplained, delta, {}, {});
    sort();
    return std::move(out_);
  }

 private:
  void add(Contribution::Kind kind, Picoseconds delta, SliceId a, SliceId b) {
    if (delta != Picoseconds{0}) out_.push_back({kind, delta, a, b});
  }

  void both(SliceId a, SliceId b) {
    add(Contribution::Kind::Duration, b_[b].work - a_[a].work, a, b);
    add(Contribution::Kind::Arrival, b_[b].wait - a_[a].wait, a, b);
    add(Contribution::Kind::Gap, b_[b].gap - a_[a].gap, a, b);
  }

  // On one path only, or in one run only.
  void on_path_of_a(Contribution::Kind kind, SlicePair pair) {
    add(kind, -(a_[pair.a].work + a_[pair.a].wait), pair.a, pair.b);
    add(Contribution::Kind::Gap, -a_[pair.a].gap, pair.a, pair.b);
  }
  void on_path_of_b(Contribution::Kind kind, SlicePair pair) {
    add(kind, b_[pair.b].work + b_[pair.b].wait, pair.a, pair.b);
    add(Contribution::Kind::Gap, b_[pair.b].gap, pair.a, pair.b);
  }

  // Ranks do the same work, and the paths may follow it on different ones: what
  // left the path on one rank and came onto it on another, in order, is one item.
  void moved_to_another_rank(std::vector<SlicePair>& left_a, std::vector<SlicePair>& left_b) {
    std::sort(left_a.begin(), left_a.end(), [&](const SlicePair& x, const SlicePair& y) {
      return std::tuple{a_.start(x.a), x.a} < std::tuple{a_.start(y.a), y.a};
    });
    std::sort(left_b.begin(), left_b.end(), [&](const SlicePair& x, const SlicePair& y) {
      return std::tuple{b_.start(x.b), x.b} < std::tuple{b_.start(y.b), y.b};
    });
    std::map<Work, std::uint32_t> works;
    for (const SlicePair& pair : left_a) works.try_emplace(work_of(a_, first_a_, pair.a));
    for (const SlicePair& pair : left_b) works.try_emplace(work_of(b_, first_b_, pair.b));
    std::uint32_t number = 0;
    for (auto& [work, token] : works) token = number++;
    std::vector<std::uint32_t> tokens_a, tokens_b;
    for (const SlicePair& pair : left_a) tokens_a.push_back(works[work_of(a_, first_a_, pair.a)]);
    for (const SlicePair& pair : left_b) tokens_b.push_back(works[work_of(b_, first_b_, pair.b)]);
    std::vector<char> done_a(left_a.size()), done_b(left_b.size());
    for (const SequenceMatch& at : sequence_diff(tokens_a, tokens_b)) {
      if (b_.rank(left_a[at.a].b) == b_.rank(left_b[at.b].b)) continue;
      both(left_a[at.a].a, left_b[at.b].b);
      done_a[at.a] = done_b[at.b] = 1;
    }
    for (std::size_t i = 0; i < left_a.size(); ++i)
      if (!done_a[i]) on_path_of_a(Contribution::Kind::Path, left_a[i]);
    for (std::size_t j = 0; j < left_b.size(); ++j)
      if (!done_b[j]) on_path_of_b(Contribution::Kind::Path, left_b[j]);
  }

  using Work = std::tuple<std::string_view, std::int64_t, std::uint32_t>;  // title, step, occurrence
  static Work work_of(const PathUse& use, std::int64_t first, SliceId id) {
    const Slice& slice = use.timeline->slice(id);
    return {title_of(*use.timeline, id), slice.step ? std::int64_t{slice.step.value} - first : 0, slice.occurrence};
  }

  void sort() {
    struct Order {
      std::int64_t less;  // minus |delta|
      std::uint32_t rank;
      std::string_view title;
      Contribution part;
    };
    std::vector<Order> order;
    order.reserve(out_.size());
    for (const Contribution& part : out_) {
      const PathUse& use = part.b ? b_ : a_;
      const SliceId slice = part.b ? part.b : part.a;
      order.push_back({-std::abs(part.delta.count()), slice ? use.rank(slice) : 0,
                       slice ? title_of(*use.timeline, slice) : std::string_view(), part});
    }
    std::sort(order.begin(), order.end(), [](const Order& x, const Order& y) {
      return std::tie(x.less, x.rank, x.title, x.part.kind, x.part.a, x.part.b) <
             std::tie(y.less, y.rank, y.title, y.part.kind, y.part.a, y.part.b);
    });
    for (std::size_t i = 0; i < order.size(); ++i) out_[i] = order[i].part;
  }

  PathUse a_, b_;
  std::int64_t first_a_, first_b_;
  std::vector<Contribution> out_;
};

}  // namespace

std::string_view name_of(Contribution::Kind kind) {
  switch (kind) {
    case Contribution::Kind::Duration: return "duration";
    case Contribution::Kind::Arrival: return "arrival";
    case Contribution::Kind::Gap: return "gap";
    case Contribution::Kind::Inserted: return "inserted";
    case Contribution::Kind::Removed: return "removed";
    case Contribution::Kind::Path: return "path";
    case Contribution::Kind::Unexplained: return "unexplained";
  }
  return "unexplained";
}

std::string_view title_of(const Timeline& timeline, SliceId id) {
  const Slice& slice = timeline.slice(id);
  return slice.command ? std::string_view(timeline.command(slice.command).key) : timeline.text(slice.name);
}

std::vector<Contribution> waterfall(const RunPart& a, const RunPart& b, const Alignment& alignment) {
  return Waterfall(a, b).run(alignment, b.window.span.length() - a.window.span.length());
}

}  // namespace stave
