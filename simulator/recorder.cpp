#include "simulator/recorder.h"

#include <algorithm>

#include "core/lower/issue_names.h"
#include "core/timeline/command_family.h"

namespace stave::simulator {
namespace {

constexpr std::size_t batch_rows = 16384;

template <class Row, class Send>
void in_batches(std::vector<Row>& rows, Send send) {
  for (std::size_t i = 0; i < rows.size(); i += max_batch_rows)
    send(std::span<const Row>(rows).subspan(i, std::min(max_batch_rows, rows.size() - i)));
  rows.clear();
}

// In the order of Recorder::Counter.
constexpr std::pair<std::string_view, std::string_view> counter_names[] = {
    {"SMs held", ""}, {"memory bandwidth", "bytes/s"}, {"link bandwidth out", "bytes/s"}};

}  // namespace

Recorder::Recorder(const Plan& plan, const Folding& folding, TimelineSink& sink, bool all_ranks, bool counters)
    : plan_(plan),
      folding_(folding),
      sink_(sink),
      all_ranks_(all_ranks),
      counters_(counters),
      gauges_(counters ? folding.colours() : 0) {}

void Recorder::must(Result<void> result) {
  if (state_ && !result) state_ = std::move(result);
}

StringId Recorder::name(std::string_view text) {
  const std::size_t before = names_.size();
  const StringId id = names_.intern(text);
  if (names_.size() > before) must(sink_.on_names({&text, 1}));
  return id;
}

void Recorder::begin(std::string_view gpu) {
  const std::size_t ranks = plan_.ranks();
  std::vector<RankInfo> infos;
  std::vector<Track> tracks;
  first_track_.assign(ranks, 0);
  for (std::size_t c = 0; c < folding_.colours(); ++c) {
    const IssueProgram& program = plan_.of_rank(folding_.representative[c]).program;
    streams_.push_back(static_cast<std::uint32_t>(program.streams.size()));
    hosts_.push_back(static_cast<std::uint32_t>(program.hosts.size()));
  }
  for (Rank r = 0; r < ranks; ++r) {
    if (!all_ranks_ && folding_.representative[folding_.colour_of_rank[r]] != r) continue;
    RankInfo& info = infos.emplace_back();
    info.rank = r;
    info.rank_from = "schedule";
    info.device = r;
    info.gpu = gpu;
    first_track_[r] = static_cast<std::uint32_t>(tracks.size());
    const IssueProgram& program = plan_.of_rank(r).program;
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      Track& track = tracks.emplace_back();
      track.rank = r;
      track.kind = TrackKind::Stream;
      track.name = to_text(program.streams[s]);
      track.device = r;
      track.stream = static_cast<std::int64_t>(s);
    }
    for (std::size_t h = 0; h < program.hosts.size(); ++h) {
      Track& track = tracks.emplace_back();
      track.rank = r;
      track.kind = TrackKind::Host;
      track.name = program.hosts.size() == 1 ? "host" : fmt::format("host {}", h);
      track.thread = static_cast<std::int64_t>(h);
    }
    Track& track = tracks.emplace_back();
    track.rank = r;
    track.kind = TrackKind::Range;
    track.name = "ranges";
    if (!counters_) continue;
    for (const auto& [name, unit] : counter_names) {
      Track& counter = tracks.emplace_back();
      counter.rank = r;
      counter.kind = TrackKind::Counter;
      counter.name = name;
      counter.unit = unit;
      counter.device = r;
    }
  }
  in_batches(infos, [&](auto rows) { must(sink_.on_ranks(rows)); });
  in_batches(tracks, [&](auto rows) { must(sink_.on_tracks(rows)); });
  std::vector<TimelineCommand> commands;
  std::uint32_t first = 0;
  for (const RankClass& c : plan_.classes) {
    const Expanded& expanded = c.expanded;
    first_command_.push_back(first);
    first += static_cast<std::uint32_t>(expanded.commands.size());
    std::vector<StringId>& names = op_names_.emplace_back();
    names.reserve(expanded.commands.size());
    commands.clear();
    for (std::size_t i = 0; i < expanded.commands.size(); ++i) {
      const Command& command = expanded.commands.raw()[i];
      const std::string_view op = std::visit([]<class T>(const T&) { return T::info.name; }, command.payload);
      names.push_back(name(op));
      TimelineCommand& row = commands.emplace_back();
      row.key = expanded.path(CommandId{i});
      row.op = op;
      row.family = family_of(command.payload);
      const Place place = expanded.place(command);
      row.line = place.line;
      row.column = place.column;
      if (command.cost) {
        row.flops = expanded.costs[command.cost].flops;
        row.bytes = expanded.costs[command.cost].bytes;
      }
    }
    in_batches(commands, [&](auto rows) { must(sink_.on_commands(rows)); });
  }
}

std::uint32_t Recorder::add(const Row& row) {
  const std::uint32_t id = next_slice_;
  const std::uint32_t rank_class = plan_.class_of_rank[folding_.representative[row.colour]];
  Slice slice;
  slice.start = Time{row.start};
  slice.duration = Picoseconds{row.end - row.start};
  slice.name = row.name;
  if (row.command != Id<Command>::none) slice.command = TimelineCommandId{first_command_[rank_class] + row.command};
  slice.step = StepNumber{row.step};
  slice.occurrence = row.occurrence;
  slice.family = row.family;
  slice.flags = row.flags;
  for (const Rank rank : ranks_of(row.colour)) {
    slice.track = TrackId{first_track_[rank] + row.track};
    slices_.push_back(slice);
    ++next_slice_;
  }
  if (slices_.size() >= batch_rows) flush();
  return id;
}

void Recorder::flow(std::uint32_t from_colour, std::uint32_t from, std::uint32_t to_colour, std::uint32_t to,
                    FlowKind kind) {
  if (from == 0 || to == 0) return;
  const auto n = static_cast<std::uint32_t>(ranks_of(to_colour).size());
  for (std::uint32_t i = 0; i < n; ++i)
    flows_.push_back(
        {SliceId{from_colour == to_colour ? from + i : from}, SliceId{to + i}, kind, Certainty::Predicted});
}

void Recorder::cost(std::uint32_t colour, std::uint32_t slice, StringId part, std::int64_t duration, StringId model,
                    StringId source) {
  const auto n = static_cast<std::uint32_t>(ranks_of(colour).size());
  for (std::uint32_t i = 0; i < n; ++i)
    costs_.push_back({SliceId{slice + i}, part, Picoseconds{duration}, {}, {}, model, source});
}

void Recorder::collective(std::uint32_t colour, CollectiveDetail detail) {
  const auto n = static_cast<std::uint32_t>(ranks_of(colour).size());
  const std::uint32_t first = detail.slice.value;
  for (std::uint32_t i = 0; i < n; ++i) {
    detail.slice = SliceId{first + i};
    collectives_.push_back(detail);
  }
}

void Recorder::copy(std::uint32_t colour, CopyDetail detail) {
  const std::uint32_t first = detail.slice.value;
  std::uint32_t i = 0;
  for (const Rank rank : ranks_of(colour)) {
    detail.slice = SliceId{first + i++};
    if (detail.source_device) detail.source_device = rank;
    if (detail.destination_device) detail.destination_device = rank;
    copies_.push_back(detail);
  }
}

void Recorder::settle_counter(std::uint32_t colour, std::size_t counter) {
  Gauge& g = gauges_[colour][counter];
  if (g.value == g.written) return;
  for (const Rank rank : ranks_of(colour))
    samples_.push_back(
        {TrackId{std::size_t{first_track_[rank]} + range_track(colour) + 1 + counter}, Time{g.time}, g.value});
  g.written = g.value;
  if (samples_.size() >= batch_rows) in_batches(samples_, [&](auto rows) { must(sink_.on_counters(rows)); });
}

void Recorder::counter(std::uint32_t colour, Counter counter, std::int64_t time, double value) {
  const auto at = static_cast<std::size_t>(counter);
  Gauge& g = gauges_[colour][at];
  if (time > g.time) settle_counter(colour, at);
  g.time = time;
  g.value = value;
}

void Recorder::step(std::uint32_t colour, std::uint32_t step, std::int64_t start, std::int64_t end) {
  for (const Rank rank : ranks_of(colour)) {
    StepSpan& span = steps_.emplace_back();
    span.step = step;
    span.rank = rank;
    span.start = Time{start};
    span.end = Time{end};
  }
}

void Recorder::flush() {
  in_batches(slices_, [&](auto rows) { must(sink_.on_slices(rows)); });
  in_batches(flows_, [&](auto rows) { must(sink_.on_flows(rows)); });
  in_batches(costs_, [&](auto rows) { must(sink_.on_costs(rows)); });
  in_batches(copies_, [&](auto rows) { must(sink_.on_copies(rows)); });
  in_batches(collectives_, [&](auto rows) { must(sink_.on_collectives(rows)); });
}

Result<void> Recorder::finish(std::span<const TimelineProblem> problems) {
  flush();
  for (std::uint32_t colour = 0; colour < gauges_.size(); ++colour)
    for (std::size_t counter = 0; counter < gauges_[colour].size(); ++counter) settle_counter(colour, counter);
  in_batches(samples_, [&](auto rows) { must(sink_.on_counters(rows)); });
  std::sort(steps_.begin(), steps_.end(),
            [](const StepSpan& a, const StepSpan& b) { return std::pair(a.step, a.rank) < std::pair(b.step, b.rank); });
  in_batches(steps_, [&](auto rows) { must(sink_.on_steps(rows)); });
  if (!problems.empty()) must(sink_.on_problems(problems));
  return std::move(state_);
}

}  // namespace stave::simulator
