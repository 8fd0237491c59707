#include "core/timeline/timeline.h"

#include <algorithm>

namespace stave {
namespace {

constexpr auto by_slice = [](const auto& a, const auto& b) { return a.slice < b.slice; };

// Producers send details nearly in slice order; what comes late is merged in.
template <class Row>
void insert_by_slice(std::vector<Row>& rows, std::span<const Row> batch) {
  const auto old_size = static_cast<std::ptrdiff_t>(rows.size());
  rows.insert(rows.end(), batch.begin(), batch.end());
  const auto middle = rows.begin() + old_size;
  std::stable_sort(middle, rows.end(), by_slice);
  if (middle == rows.end()) return;
  std::inplace_merge(std::upper_bound(rows.begin(), middle, *middle, by_slice), middle, rows.end(), by_slice);
}

// The rows of one batch are unique, and new among `rows`, when no neighbours are equal.
template <class Row>
Result<void> insert_unique(std::vector<Row>& rows, std::span<const Row> batch, std::string_view what) {
  if (batch.empty()) return {};
  const SliceId first = std::min_element(batch.begin(), batch.end(), by_slice)->slice;
  insert_by_slice(rows, batch);
  const auto from =
      std::lower_bound(rows.begin(), rows.end(), first, [](const Row& row, SliceId id) { return row.slice < id; });
  const auto twice =
      std::adjacent_find(from, rows.end(), [](const Row& a, const Row& b) { return a.slice == b.slice; });
  if (twice != rows.end())
    return error_at({}, "STV0713", "slice {} has {} twice; a slice has one", twice->slice.value, what);
  return {};
}

template <class Row>
const Row* find_by_slice(const std::vector<Row>& rows, SliceId id) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), id, [](const Row& row, SliceId wanted) { return row.slice < wanted; });
  return at != rows.end() && at->slice == id ? &*at : nullptr;
}

template <class Row>
void append(std::vector<Row>& rows, std::span<const Row> batch) {
  rows.insert(rows.end(), batch.begin(), batch.end());
}

template <class Row, class Translate>
bool equal_rows(const std::vector<Row>& a, const std::vector<Row>& b, Translate translate) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Row& left, Row right) {
    translate(right);
    return left == right;
  });
}

struct ReplayTarget {
  TimelineSink& sink;
  Progress* progress;
};

template <class Row>
Result<void> send(std::span<const Row> rows, const ReplayTarget& to,
                  Result<void> (TimelineSink::*take)(std::span<const Row>)) {
  for (std::size_t at = 0; at < rows.size(); at += max_batch_rows) {
    TRY_VOID(still_wanted(to.progress));
    const auto batch = rows.subspan(at, std::min(max_batch_rows, rows.size() - at));
    TRY_VOID((to.sink.*take)(batch));
    if (to.progress) to.progress->done += static_cast<std::int64_t>(batch.size());
  }
  return {};
}

}  // namespace

StringId Timeline::intern(std::string_view text) {
  const std::size_t before = names_.size();
  const StringId id = names_.intern(text);
  if (names_.size() > before) must(check_.names({&text, 1}));
  return id;
}

TrackId Timeline::add(Track track) {
  must(on_tracks({&track, 1}));
  return TrackId{tracks_.size() - 1};
}

TimelineCommandId Timeline::add(TimelineCommand command) {
  must(on_commands({&command, 1}));
  return TimelineCommandId{commands_.size() - 1};
}

SliceId Timeline::add(const Slice& slice) {
  must(on_slices({&slice, 1}));
  return SliceId{static_cast<std::uint32_t>(slices_.size())};
}

Result<void> Timeline::on_names(std::span<const std::string_view> batch) {
  TRY_VOID(check_.names(batch));
  for (const std::string_view name : batch) {
    const std::size_t before = names_.size();
    const StringId id = names_.intern(name);
    if (names_.size() == before)
      return error_at({}, "STV0713", "the name \"{}\" arrived twice, first as name {}", name, id.value);
  }
  return {};
}

Result<void> Timeline::on_sources(std::span<const SourceInfo> batch) {
  TRY_VOID(check_.sources(batch));
  append(sources_, batch);
  return {};
}

Result<void> Timeline::on_ranks(std::span<const RankInfo> batch) {
  TRY_VOID(check_.ranks(batch));
  append(ranks_, batch);
  return {};
}

Result<void> Timeline::on_tracks(std::span<const Track> batch) {
  TRY_VOID(check_.tracks(batch));
  append(tracks_, batch);
  return {};
}

Result<void> Timeline::on_commands(std::span<const TimelineCommand> batch) {
  TRY_VOID(check_.commands(batch));
  append(commands_, batch);
  return {};
}

Result<void> Timeline::on_slices(std::span<const Slice> batch) {
  TRY_VOID(check_.slices(batch));
  append(slices_, batch);
  return {};
}

Result<void> Timeline::on_flows(std::span<const SliceFlow> batch) {
  TRY_VOID(check_.flows(batch));
  append(flows_, batch);
  return {};
}

Result<void> Timeline::on_kernels(std::span<const KernelDetail> batch) {
  TRY_VOID(check_.kernels(batch));
  return insert_unique(kernels_, batch, "kernel details");
}

Result<void> Timeline::on_copies(std::span<const CopyDetail> batch) {
  TRY_VOID(check_.copies(batch));
  return insert_unique(copies_, batch, "copy details");
}

Result<void> Timeline::on_calls(std::span<const ApiDetail> batch) {
  TRY_VOID(check_.calls(batch));
  return insert_unique(calls_, batch, "API call details");
}

Result<void> Timeline::on_args(std::span<const ArgsDetail> batch) {
  TRY_VOID(check_.args(batch));
  return insert_unique(args_, batch, "args");
}

Result<void> Timeline::on_collectives(std::span<const CollectiveDetail> batch) {
  TRY_VOID(check_.collectives(batch));
  return insert_unique(collectives_, batch, "collective details");
}

Result<void> Timeline::on_costs(std::span<const CostPart> batch) {
  TRY_VOID(check_.costs(batch));
  insert_by_slice(costs_, batch);
  return {};
}

Result<void> Timeline::on_counters(std::span<const CounterSample> batch) {
  TRY_VOID(check_.counters(batch));
  append(counters_, batch);
  return {};
}

Result<void> Timeline::on_steps(std::span<const StepSpan> batch) {
  TRY_VOID(check_.steps(batch));
  append(steps_, batch);
  return {};
}

Result<void> Timeline::on_problems(std::span<const TimelineProblem> batch) {
  TRY_VOID(check_.problems(batch));
  append(problems_, batch);
  return {};
}

const KernelDetail* Timeline::kernel(SliceId id) const { return find_by_slice(kernels_, id); }
const CopyDetail* Timeline::copy(SliceId id) const { return find_by_slice(copies_, id); }
const ApiDetail* Timeline::call(SliceId id) const { return find_by_slice(calls_, id); }
const ArgsDetail* Timeline::args(SliceId id) const { return find_by_slice(args_, id); }
const CollectiveDetail* Timeline::collective(SliceId id) const { return find_by_slice(collectives_, id); }

std::span<const CostPart> Timeline::costs(SliceId id) const {
  const auto [first, last] = std::equal_range(costs_.begin(), costs_.end(), CostPart{.slice = id}, by_slice);
  return {first, last};
}

bool operator==(const Timeline& a, const Timeline& b) {
  // A text of b that a lacks gets an id that none of a's rows can have.
  std::vector<StringId> in_a(b.names_.size(), StringId{a.names_.size()});
  for (std::size_t i = 0; i < in_a.size(); ++i)
    if (const StringId id = a.names_.find(b.names_[StringId{i}])) in_a[i] = id;
  const auto translate = [&](StringId& id) {
    if (id) id = in_a[id.value];
  };
  const auto names_of = [&](auto... member) {
    return [translate, member...](auto& row) { (translate(row.*member), ...); };
  };
  using Collective = CollectiveDetail;
  return a.tracks_ == b.tracks_ && a.commands_ == b.commands_ &&
         equal_rows(a.slices_, b.slices_, names_of(&Slice::name)) && a.flows_ == b.flows_ &&
         a.counters_ == b.counters_ && a.steps_ == b.steps_ && a.ranks_ == b.ranks_ && a.sources_ == b.sources_ &&
         a.problems_ == b.problems_ && equal_rows(a.kernels_, b.kernels_, names_of(&KernelDetail::demangled_name)) &&
         a.copies_ == b.copies_ && a.calls_ == b.calls_ && a.args_ == b.args_ &&
         equal_rows(a.collectives_, b.collectives_,
                    names_of(&Collective::communicator, &Collective::op, &Collective::dtype, &Collective::algorithm,
                             &Collective::protocol)) &&
         equal_rows(a.costs_, b.costs_, names_of(&CostPart::part, &CostPart::model, &CostPart::source));
}

std::optional<TimeSpan> extent_of(const Timeline& timeline) {
  if (timeline.slices().empty()) return std::nullopt;
  TimeSpan span{timeline.slices()[0].start, timeline.slices()[0].end()};
  for (const Slice& slice : timeline.slices()) {
    span.start = std::min(span.start, slice.start);
    span.end = std::max(span.end, slice.end());
  }
  return span;
}

Result<void> replay(const Timeline& timeline, TimelineSink& sink, Progress* progress) {
  std::vector<std::string_view> names;
  names.reserve(timeline.names().size());
  for (std::size_t i = 0; i < timeline.names().size(); ++i) names.push_back(timeline.names()[StringId{i}]);
  // The tables that grow with the run.
  if (progress)
    progress->total =
        static_cast<std::int64_t>(timeline.slices().size() + timeline.flows().size() + timeline.costs().size());
  const ReplayTarget to{sink, progress};

  TRY_VOID(send(timeline.sources(), to, &TimelineSink::on_sources));
  TRY_VOID(send(timeline.ranks(), to, &TimelineSink::on_ranks));
  TRY_VOID(send<std::string_view>(names, to, &TimelineSink::on_names));
  TRY_VOID(send(timeline.tracks(), to, &TimelineSink::on_tracks));
  TRY_VOID(send(timeline.commands(), to, &TimelineSink::on_commands));
  TRY_VOID(send(timeline.slices(), to, &TimelineSink::on_slices));
  TRY_VOID(send(timeline.flows(), to, &TimelineSink::on_flows));
  TRY_VOID(send(timeline.kernels(), to, &TimelineSink::on_kernels));
  TRY_VOID(send(timeline.copies(), to, &TimelineSink::on_copies));
  TRY_VOID(send(timeline.calls(), to, &TimelineSink::on_calls));
  TRY_VOID(send(timeline.args(), to, &TimelineSink::on_args));
  TRY_VOID(send(timeline.collectives(), to, &TimelineSink::on_collectives));
  TRY_VOID(send(timeline.costs(), to, &TimelineSink::on_costs));
  TRY_VOID(send(timeline.counters(), to, &TimelineSink::on_counters));
  TRY_VOID(send(timeline.steps(), to, &TimelineSink::on_steps));
  return send(timeline.problems(), to, &TimelineSink::on_problems);
}

}  // namespace stave
