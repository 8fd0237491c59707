#include "analysis/align.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analysis/sequence_diff.h"
#include "analysis/slice_tokens.h"

namespace stave {
namespace {

using Rows = std::vector<std::uint32_t>;

bool meets_window(const Slice& slice, Interval span) {
  return slice.start < span.end &&
         (slice.end() > span.begin || (slice.duration.count() == 0 && slice.start >= span.begin));
}

using StepSet = std::set<std::int64_t>;  // counted from the window's

// A run's work on devices in its window.
struct Side {
  explicit Side(const RunPart& part) : part(&part), timeline(&part.index->timeline()), first(first_step(part)) {
    matched.resize(timeline->slices().size());
    std::set<std::uint32_t> numbers;
    for (const Track& track : timeline->tracks())
      if (is_device_track(track)) numbers.insert(track.rank);
    ranks.assign(numbers.begin(), numbers.end());
  }

  // All work in the window, and all of `steps` wherever it is.
  void take(const StepSet& steps) {
    rows.clear();
    tracks.clear();
    for (std::uint32_t i = 0; i < timeline->tracks().size(); ++i) {
      if (!is_device_track(timeline->tracks()[i])) continue;
      const auto at = static_cast<std::uint32_t>(rows.size());
      const std::span<const std::uint32_t> all =
          steps.empty() ? part->index->rows(TrackId{i}, part->window.span) : part->index->rows(TrackId{i});
      for (const std::uint32_t row : all)
        if (part->index->work(row) != WorkKind::None &&
            (meets_window(slice(row), part->window.span) || (slice(row).step && steps.contains(step(row)))))
          rows.push_back(row);
      if (rows.size() > at) tracks.push_back({TrackId{i}, at, static_cast<std::uint32_t>(rows.size())});
    }
  }
  StepSet steps() const {
    StepSet found;
    for (const std::uint32_t row : rows) found.insert(step(row));
    return found;
  }
  // That some work of the run is of the window's step, in its time or not.
  bool knows_its_step() const {
    if (part->window.kind != "step") return false;
    for (std::uint32_t row = 0; row < timeline->slices().size(); ++row)
      if (slice(row).step && step(row) == 0 && part->index->work(row) != WorkKind::None) return true;
    return false;
  }

  const Slice& slice(std::uint32_t row) const { return timeline->slices()[row]; }
  // What does not say its step is of the window's.
  std::int64_t step(std::uint32_t row) const {
    return slice(row).step ? std::int64_t{slice(row).step.value} - first : std::int64_t{0};
  }
  std::uint32_t rank(std::uint32_t row) const { return timeline->track(slice(row).track).rank; }
  bool knows_command(std::uint32_t row) const {
    return slice(row).command && (slice(row).flags & slice_flags::guessed_command) == 0;
  }
  bool earlier(std::uint32_t x, std::uint32_t y) const {
    return std::tuple{slice(x).start, x} < std::tuple{slice(y).start, y};
  }
  std::vector<SliceId> unmatched(bool of_other_steps, bool by_step) const {
    Rows left;
    for (const std::uint32_t row : rows) {
      const bool other = by_step && step(row) != 0;
      if (!matched[row] && other == of_other_steps && (!other || meets_window(slice(row), part->window.span)))
        left.push_back(row);
    }
    std::sort(left.begin(), left.end(), [&](std::uint32_t x, std::uint32_t y) { return earlier(x, y); });
    std::vector<SliceId> ids;
    for (const std::uint32_t row : left) ids.push_back(SliceId{row + 1});
    return ids;
  }

  const RunPart* part;
  const Timeline* timeline;
  std::int64_t first;  // the number of the window's step
  struct OnTrack {
    TrackId track;
    std::uint32_t first, end;  // positions in `rows`
  };
  Rows rows;  // by track, then start
  std::vector<OnTrack> tracks;
  std::vector<char> matched;  // by slice row
  std::vector<std::uint32_t> ranks;
};

class Aligner {
 public:
  Aligner(const RunPart& a, const RunPart& b) : a_(a), b_(b) {
    pair_ranks();
    a_.take({});
    b_.take({});
    by_step_ = a_.knows_its_step() && b_.knows_its_step();
    if (!by_step_) return;
    StepSet steps = a_.steps();
    steps.merge(b_.steps());
    a_.take(steps);
    b_.take(steps);
  }

  Alignment run() {
    by_command();
    out_.by_command = out_.matched.size();
    by_name();
    for (std::vector<SlicePair>* pairs : {&out_.matched, &out_.other_steps})
      std::sort(pairs->begin(), pairs->end(),
                [&](const SlicePair& x, const SlicePair& y) { return a_.earlier(x.a.row(), y.a.row()); });
    out_.only_a = a_.unmatched(false, by_step_);
    out_.only_b = b_.unmatched(false, by_step_);
    for (const SliceId id : a_.unmatched(true, by_step_)) out_.other_steps.push_back({id, {}});
    for (const SliceId id : b_.unmatched(true, by_step_)) out_.other_steps.push_back({{}, id});
    return std::move(out_);
  }

 private:
  void pair_ranks() {
    std::vector<std::uint32_t> common;
    std::set_intersection(a_.ranks.begin(), a_.ranks.end(), b_.ranks.begin(), b_.ranks.end(),
                          std::back_inserter(common));
    for (const std::uint32_t rank : common) ranks_.emplace_back(rank, rank);
    if (!common.empty()) return;
    for (std::size_t i = 0; i < std::min(a_.ranks.size(), b_.ranks.size()); ++i)
      ranks_.emplace_back(a_.ranks[i], b_.ranks[i]);
    out_.ranks_by_order = !ranks_.empty();
  }

  void match(std::uint32_t row_a, std::uint32_t row_b) {
    a_.matched[row_a] = b_.matched[row_b] = 1;
    const SlicePair pair{SliceId{row_a + 1}, SliceId{row_b + 1}};
    if (!by_step_ || a_.step(row_a) == 0)
      out_.matched.push_back(pair);
    else if (meets_window(a_.slice(row_a), a_.part->window.span) || meets_window(b_.slice(row_b), b_.part->window.span))
      out_.other_steps.push_back(pair);
  }

  // What must be equal, then what gives the n-th of equals.
  struct Instance {
    std::uint32_t rank, key;
    std::int64_t step;
    std::uint32_t occurrence;
    Time start;
    std::uint32_t row;

    auto identity() const { return std::tuple{rank, key, step, occurrence}; }
    friend auto operator<=>(const Instance&, const Instance&) = default;
  };

  void by_command() {
    std::unordered_map<std::string_view, std::uint32_t> keys;
    const std::vector<Instance> in_a = instances(a_, keys, false), in_b = instances(b_, keys, true);
    auto i = in_a.begin();
    auto j = in_b.begin();
    while (i != in_a.end() && j != in_b.end()) {
      if (i->identity() < j->identity()) {
        ++i;
      } else if (j->identity() < i->identity()) {
        ++j;
      } else {
        match((i++)->row, (j++)->row);
        any_command_ = true;
      }
    }
  }

  std::vector<Instance> instances(const Side& side, std::unordered_map<std::string_view, std::uint32_t>& keys,
                                  bool is_b) const {
    std::vector<std::uint32_t> key_of;
    for (const TimelineCommand& command : side.timeline->commands())
      key_of.push_back(keys.try_emplace(command.key, static_cast<std::uint32_t>(keys.size())).first->second);
    std::map<std::uint32_t, std::uint32_t> pair_of;  // number of the rank pair
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) pair_of[is_b ? ranks_[i].second : ranks_[i].first] = i;
    std::vector<Instance> found;
    for (const std::uint32_t row : side.rows) {
      const Slice& slice = side.slice(row);
      const auto pair = pair_of.find(side.rank(row));
      if (!side.knows_command(row) || pair == pair_of.end()) continue;
      found.push_back({pair->second, key_of[slice.command.value], side.step(row), slice.occurrence, slice.start, row});
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  struct Stream {
    TrackId track;
    Rows rows{};
    Picoseconds work{};
    std::map<std::uint32_t, std::uint32_t> names{};  // how often each
  };

  using Streams = std::vector<Stream>;
  using Places = std::map<std::pair<std::int64_t, std::uint32_t>, Streams>;  // by step, rank

  // Most work first. With commands in both runs, what knows its command is not looked for by name.
  Places streams(const Side& side, std::size_t which) const {
    Places found;
    for (const Side::OnTrack& on : side.tracks) {
      const std::uint32_t rank = side.timeline->track(on.track).rank;
      for (std::uint32_t i = on.first; i < on.end; ++i) {
        const std::uint32_t row = side.rows[i];
        if (side.matched[row] || (any_command_ && side.knows_command(row))) continue;
        Streams& streams = found[{by_step_ ? side.step(row) : 0, rank}];
        if (streams.empty() || streams.back().track != on.track) streams.push_back({.track = on.track});
        Stream& stream = streams.back();
        stream.rows.push_back(row);
        stream.work += side.slice(row).duration;
        ++stream.names[tokens_.names[which][row]];
      }
    }
    for (auto& [place, streams] : found)
      std::stable_sort(streams.begin(), streams.end(),
                       [](const Stream& x, const Stream& y) { return x.work > y.work; });
    return found;
  }

  void by_name() {
    if (out_.matched.size() + out_.other_steps.size() == std::min(a_.rows.size(), b_.rows.size())) return;
    tokens_ = slice_tokens(*a_.timeline, *b_.timeline);
    const Places in_a = streams(a_, 0), in_b = streams(b_, 1);
    const std::map<std::uint32_t, std::uint32_t> partners(ranks_.begin(), ranks_.end());
    for (const auto& [place, streams_a] : in_a) {
      const auto partner = partners.find(place.second);
      if (partner == partners.end()) continue;
      const auto at = in_b.find({place.first, partner->second});
      if (at == in_b.end()) continue;
      for (const auto& [i, j] : stream_pairs(streams_a, at->second)) in_order(streams_a[i].rows, at->second[j].rows);
      in_order(left_of(a_, streams_a), left_of(b_, at->second));
    }
  }

  static Rows left_of(const Side& side, const std::vector<Stream>& streams) {
    Rows left;
    for (const Stream& stream : streams)
      for (const std::uint32_t row : stream.rows)
        if (!side.matched[row]) left.push_back(row);
    std::sort(left.begin(), left.end(), [&](std::uint32_t x, std::uint32_t y) { return side.earlier(x, y); });
    return left;
  }

  bool same_stream(TrackId in_a, TrackId in_b) const {
    const Track &x = a_.timeline->track(in_a), &y = b_.timeline->track(in_b);
    if (x.kind != y.kind) return false;
    return x.stream || y.stream ? x.stream == y.stream : x.name == y.name;
  }

  std::vector<std::pair<std::size_t, std::size_t>> stream_pairs(const std::vector<Stream>& in_a,
                                                                const std::vector<Stream>& in_b) const {
    struct Candidate {
      bool other_stream;
      std::int64_t less_shared;  // minus the slices of the same name
      std::size_t apart, first;  // places in the order of most work: their distance, the smaller one
      std::size_t i, j;
    };
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < in_a.size(); ++i)
      for (std::size_t j = 0; j < in_b.size(); ++j) {
        std::int64_t shared = 0;
        std::size_t names = 0;
        for (const auto& [name, count] : in_a[i].names)
          if (const auto at = in_b[j].names.find(name); at != in_b[j].names.end()) {
            shared += std::min(count, at->second);
            ++names;
          }
        const bool same = same_stream(in_a[i].track, in_b[j].track) &&
                          2 * names >= std::max(in_a[i].names.size(), in_b[j].names.size());
        if (shared > 0) candidates.push_back({!same, -shared, i < j ? j - i : i - j, std::min(i, j), i, j});
      }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
      return std::tie(x.other_stream, x.less_shared, x.apart, x.first, x.i) <
             std::tie(y.other_stream, y.less_shared, y.apart, y.first, y.i);
    });
    std::vector<char> taken_a(in_a.size()), taken_b(in_b.size());
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const Candidate& candidate : candidates) {
      if (taken_a[candidate.i] || taken_b[candidate.j]) continue;
      taken_a[candidate.i] = taken_b[candidate.j] = 1;
      pairs.emplace_back(candidate.i, candidate.j);
    }
    return pairs;
  }

  static Rows tokens_of(const Rows& rows, const std::vector<std::uint32_t>& tokens) {
    Rows out;
    out.reserve(rows.size());
    for (const std::uint32_t row : rows) out.push_back(tokens[row]);
    return out;
  }

  void in_order(const Rows& rows_a, const Rows& rows_b) {
    const Rows names_a = tokens_of(rows_a, tokens_.names[0]), names_b = tokens_of(rows_b, tokens_.names[1]);
    const auto named = [&](std::size_t from_a, std::size_t to_a, std::size_t from_b, std::size_t to_b) {
      for (const SequenceMatch& at : sequence_diff(std::span(names_a).subspan(from_a, to_a - from_a),
                                                   std::span(names_b).subspan(from_b, to_b - from_b)))
        match(rows_a[from_a + at.a], rows_b[from_b + at.b]);
    };
    std::size_t from_a = 0, from_b = 0;
    if (!tokens_.shapes[0].empty() || !tokens_.shapes[1].empty())
      for (const SequenceMatch& at :
           sequence_diff(tokens_of(rows_a, tokens_.shapes[0]), tokens_of(rows_b, tokens_.shapes[1]))) {
        named(from_a, at.a, from_b, at.b);
        match(rows_a[at.a], rows_b[at.b]);
        from_a = at.a + 1;
        from_b = at.b + 1;
      }
    named(from_a, rows_a.size(), from_b, rows_b.size());
  }

  Side a_, b_;
  bool by_step_ = false;
  bool any_command_ = false;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks_;
  SliceTokens tokens_;
  Alignment out_;
};

}  // namespace

std::string_view Alignment::by() const {
  if (matched.empty()) return "";
  if (by_command == 0) return "name";
  return by_command == matched.size() ? "command" : "command and name";
}

std::int64_t first_step(const RunPart& part) {
  const Window& window = part.window;
  std::int64_t step = 0;
  if (window.kind == "step") {
    std::from_chars(window.label.data(), window.label.data() + window.label.size(), step);
    return step;
  }
  std::optional<std::uint32_t> first;
  const Timeline& timeline = part.index->timeline();
  for (const Slice& slice : timeline.slices())
    if (slice.step && slice.end() > window.span.begin && slice.start < window.span.end &&
        is_device_track(timeline.track(slice.track)))
      first = std::min(first.value_or(slice.step.value), slice.step.value);
  return first.value_or(0);
}

Alignment align(const RunPart& a, const RunPart& b) { return Aligner(a, b).run(); }

}  // namespace stave
