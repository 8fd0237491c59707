#include "analysis/slack.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/predecessors.h"

namespace stave {
namespace {

// A device's slice, or a stretch of a host's thread.
struct Node {
  SliceId slice{};
  Time start{};
  Time begin{};  // of its work, behind its waits
  Time end{};
  Time bound{};  // when the last it waited for was there; its begin if it waited for nothing
  Picoseconds slack{};
  bool done = false;  // or outside of the window
};

class SlackPass {
 public:
  SlackPass(const TimelineIndex& index, Interval window)
      : index_(index),
        timeline_(index.timeline()),
        window_(window),
        predecessors_(index, Certainty::Predicted),
        node_of_row_(timeline_.slices().size(), none),
        first_stretch_(timeline_.tracks().size(), none) {}

  std::vector<Picoseconds> run() {
    std::vector<Picoseconds> slacks(timeline_.slices().size(), no_slack);
    add_devices();
    add_hosts();
    find_peers();
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return comes_before(b, a); });
    for (const std::uint32_t at : order) {
      if (nodes_[at].done) continue;
      follow_track(at);
      join_peers(at);
      pass_on(at);
      nodes_[at].done = true;
      Picoseconds& slack = slacks[nodes_[at].slice.row()];
      slack = std::min(slack, nodes_[at].slack);
    }
    return slacks;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  // What a node waited for comes before it.
  bool comes_before(std::uint32_t a, std::uint32_t b) const {
    return std::tuple(nodes_[a].begin, nodes_[a].end, a) < std::tuple(nodes_[b].begin, nodes_[b].end, b);
  }

  void add(SliceId slice, Time start, Time begin, Time end) {
    nodes_.push_back({.slice = slice, .start = start, .begin = begin, .end = std::min(end, window_.end)});
  }

  void add_devices() {
    Time last = window_.begin;
    for (std::uint32_t row = 0; row < timeline_.slices().size(); ++row) {
      const Slice& slice = timeline_.slices()[row];
      if (!is_device_track(timeline_.track(slice.track)) || slice.start >= window_.end || slice.end() <= window_.begin)
        continue;
      const Time moves = slice.start + index_.waits(row).sum();
      node_of_row_[row] = static_cast<std::uint32_t>(nodes_.size());
      add(SliceId{row + 1}, slice.start, moves < slice.end() ? moves : slice.start, slice.end());
      last = std::max(last, nodes_.back().end);
    }
    for (Node& node : nodes_) node.slack = last - node.end;
  }

  void add_hosts() {
    for (std::uint32_t track = 0; track < first_stretch_.size(); ++track) {
      if (!predecessors_.is_host(TrackId{track})) continue;
      first_stretch_[track] = static_cast<std::uint32_t>(nodes_.size());
      for (const Stretch& stretch : predecessors_.stretches(TrackId{track})) {
        // Only the part of a wait behind the device's end is the call's own.
        const std::optional<PathStep> waited = predecessors_.waited_for(stretch.slice, stretch.end);
        add(stretch.slice, stretch.begin, waited ? std::max(waited->until, stretch.begin) : stretch.begin, stretch.end);
        nodes_.back().slack = window_.end - nodes_.back().end;
        nodes_.back().done = stretch.begin >= window_.end || stretch.end <= window_.begin;
      }
    }
  }

  std::uint32_t node_of(const PathStep& step) {
    const TrackId track = timeline_.slice(step.slice).track;
    if (!predecessors_.is_host(track)) return node_of_row_[step.slice.row()];
    const Stretch* stretch = predecessors_.stretch_before(track, step.until);
    if (stretch == nullptr) return none;
    return first_stretch_[track.value] + static_cast<std::uint32_t>(stretch - predecessors_.stretches(track).data());
  }

  // Collectives that wait for each other.
  bool are_peers(const SliceFlow& flow) const {
    if (flow.kind != FlowKind::Collective || flow.from == flow.to) return false;
    if (index_.work(flow.from.row()) != WorkKind::Communication ||
        index_.work(flow.to.row()) != WorkKind::Communication)
      return false;
    const Slice &from = timeline_.slice(flow.from), &to = timeline_.slice(flow.to);
    return from.start < to.end() && to.start < from.end();
  }

  std::uint32_t group(std::uint32_t node) {
    while (group_of_[node] != node) node = group_of_[node] = group_of_[group_of_[node]];
    return node;
  }

  void find_peers() {
    group_of_.resize(nodes_.size());
    std::iota(group_of_.begin(), group_of_.end(), 0u);
    bool any = false;
    for (const SliceFlow& flow : timeline_.flows()) {
      const std::uint32_t from = node_of_row_[flow.from.row()], to = node_of_row_[flow.to.row()];
      if (from == none || to == none || !are_peers(flow)) continue;
      group_of_[group(from)] = group(to);
      any = true;
    }
    if (!any) return;
    next_peer_.resize(nodes_.size());
    std::iota(next_peer_.begin(), next_peer_.end(), 0u);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (const std::uint32_t first = group(node); first != node) std::swap(next_peer_[node], next_peer_[first]);
  }

  // On a stream work begins after all that is before it, not only after what ended last.
  void follow_track(std::uint32_t at) {
    Node& node = nodes_[at];
    const TrackId track = timeline_.slice(node.slice).track;
    if (predecessors_.is_host(track)) return;
    const auto rows = index_.rows(track);
    auto next = std::lower_bound(rows.begin(), rows.end(), node.end,
                                 [&](std::uint32_t row, Time time) { return timeline_.slices()[row].start < time; });
    // Of what is of no length there may be several at once.
    const auto is_done = [&](std::uint32_t row) { return node_of_row_[row] != none && nodes_[node_of_row_[row]].done; };
    while (next != rows.end() && !is_done(*next) && timeline_.slices()[*next].start == node.end) ++next;
    if (next == rows.end() || !is_done(*next)) return;
    const Node& after = nodes_[node_of_row_[*next]];
    node.slack = std::min(node.slack, after.slack + std::max(after.bound - node.end, Picoseconds{}));
  }

  void join_peers(std::uint32_t at) {
    if (next_peer_.empty() || next_peer_[at] == at) return;
    Picoseconds least = nodes_[at].slack;
    for (std::uint32_t peer = next_peer_[at]; peer != at; peer = next_peer_[peer]) {
      if (!nodes_[peer].done) follow_track(peer);
      least = std::min(least, nodes_[peer].slack);
    }
    nodes_[at].slack = least;
    for (std::uint32_t peer = next_peer_[at]; peer != at; peer = next_peer_[peer])
      if (!nodes_[peer].done) nodes_[peer].slack = least;
  }

  void pass_on(std::uint32_t at) {
    waited_.clear();
    Node& node = nodes_[at];
    const Slice& slice = timeline_.slice(node.slice);
    const bool host = predecessors_.is_host(slice.track);
    const auto take = [&](const PathStep& step) {
      const std::uint32_t from = node_of(step);
      if (from != none && from != at) waited_.emplace_back(from, step.until);
    };
    if (host)
      for (const std::uint32_t flow : index_.inflows(node.slice)) {
        const SliceId from = timeline_.flows()[flow].from;
        const Time until = std::min(timeline_.slice(from).end(), node.end);
        if (is_device_track(timeline_.track(timeline_.slice(from).track)) && until > slice.start)
          take({from, until, {}});
      }
    predecessors_.each(node.slice, host ? node.start : node.begin, take);
    node.bound = Time::min();
    for (const auto& [from, until] : waited_) node.bound = std::max(node.bound, until);
    if (waited_.empty()) node.bound = node.begin;
    // What is of no length may begin with it.
    if (!host)
      for (const std::uint32_t flow : index_.inflows(node.slice))
        if (const SliceId from = timeline_.flows()[flow].from; timeline_.slice(from).start == node.begin)
          take({from, node.begin, {}});
    for (const auto& [from, until] : waited_) {
      Node& before = nodes_[from];
      if (before.done || !comes_before(from, at)) continue;
      before.slack = std::min(before.slack, node.slack + std::max(node.bound - until, Picoseconds{}));
    }
  }

  const TimelineIndex& index_;
  const Timeline& timeline_;
  const Interval window_;
  Predecessors predecessors_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> node_of_row_;    // of a device's slice
  std::vector<std::uint32_t> first_stretch_;  // by track of a host
  std::vector<std::uint32_t> group_of_;       // a node that stands for all its peers
  std::vector<std::uint32_t> next_peer_;      // of each node, in a ring; empty if there are none
  std::vector<std::pair<std::uint32_t, Time>> waited_;
};

}  // namespace

std::vector<Picoseconds> slack(const TimelineIndex& index, Interval window) { return SlackPass(index, window).run(); }

}  // namespace stave
