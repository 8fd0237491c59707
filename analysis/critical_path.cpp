#include "analysis/critical_path.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/utilisation.h"

namespace stave {
namespace {

struct Step {
  SliceId slice;
  Time until{};  // the part of the slice that counts ends here
  Certainty certainty = Certainty::Predicted;
};

// Flows by the slice they lead to, and the slice before each on its track and lane.
class Predecessors {
 public:
  explicit Predecessors(const Timeline& timeline) : timeline_(timeline), flows_(timeline.flows().size()) {
    const auto all = timeline.flows();
    for (std::uint32_t i = 0; i < all.size(); ++i) flows_[i] = i;
    std::sort(flows_.begin(), flows_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return all[a].to != all[b].to ? all[a].to < all[b].to : a < b; });
    std::vector<std::uint32_t> rows(timeline.slices().size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto slices = timeline.slices();
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Slice &x = slices[a], &y = slices[b];
      return std::tuple{x.track, x.lane, x.start, x.end(), a} < std::tuple{y.track, y.lane, y.start, y.end(), b};
    });
    before_.resize(rows.size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const Slice &x = slices[rows[i - 1]], &y = slices[rows[i]];
      if (x.track == y.track && x.lane == y.lane) before_[rows[i]] = SliceId{rows[i - 1] + 1};
    }
  }

  // The predecessor that reaches furthest towards `begin`.
  std::optional<Step> last(SliceId slice, Time begin) const {
    std::optional<Step> best;
    const auto consider = [&](SliceId from, Certainty certainty) {
      const Slice& candidate = timeline_.slice(from);
      if (candidate.start >= begin) return;
      const Time until = std::min(candidate.end(), begin);
      if (!best || until > best->until) best = Step{from, until, certainty};
    };
    const auto all = timeline_.flows();
    auto at = std::lower_bound(flows_.begin(), flows_.end(), slice,
                               [&](std::uint32_t flow, SliceId to) { return all[flow].to < to; });
    for (; at != flows_.end() && all[*at].to == slice; ++at) consider(all[*at].from, all[*at].certainty);
    if (const SliceId before = before_[slice.row()]) consider(before, Certainty::Predicted);
    return best;
  }

 private:
  const Timeline& timeline_;
  std::vector<std::uint32_t> flows_;
  std::vector<SliceId> before_;
};

}  // namespace

std::string_view name_of(PathPart::Kind kind) { return kind == PathPart::Kind::Work ? "work" : "gap"; }

std::vector<PathPart> critical_path(const Timeline& timeline, Interval window) {
  std::optional<Step> at;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (!is_device_track(timeline.track(slice.track)) || slice.start >= window.end || slice.end() <= window.begin)
      continue;
    const Time until = std::min(slice.end(), window.end);
    if (!at || until > at->until) at = Step{SliceId{row + 1}, until, Certainty::Predicted};
  }
  if (!at) return {};

  const Predecessors predecessors(timeline);
  std::vector<PathPart> path;  // from the end
  const auto add = [&](PathPart::Kind kind, SliceId slice, Time begin, Time end, Certainty certainty) {
    if (begin < end) path.push_back({kind, slice, begin, end - begin, certainty});
  };
  add(PathPart::Kind::Gap, at->slice, at->until, window.end, Certainty::Predicted);
  while (at->until > window.begin) {
    const Slice& slice = timeline.slice(at->slice);
    const Waits waits = waits_of(timeline, at->slice);
    // The wait of a collective belongs to whom it waited for. Reached within its
    // wait, or with nobody to blame, it counts as a whole: each turn goes back in time.
    const Time own_start = std::max(window.begin, slice.start);
    Time begin = std::max(window.begin, slice.start + waits.residence + waits.arrival);
    std::optional<Step> before;
    if (begin < at->until) before = predecessors.last(at->slice, begin);
    if (!before) {
      begin = own_start;
      before = predecessors.last(at->slice, begin);
    }
    add(PathPart::Kind::Work, at->slice, begin, at->until, before ? before->certainty : Certainty::Predicted);
    const Time reached = before ? std::max(before->until, window.begin) : window.begin;
    add(PathPart::Kind::Gap, at->slice, reached, begin, before ? before->certainty : Certainty::Predicted);
    if (!before) break;
    at = before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace stave
