#include "profiles/import/perfetto_probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/args_text.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

// Deeper parents are a circle.
constexpr int most_parents = 64;

// The N of "GPU 3" or "stream 7", whatever stands around it.
std::optional<std::int64_t> number_behind(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    std::string_view number = name.substr(at + word.size());
    while (number.starts_with(' ') || number.starts_with('#')) number.remove_prefix(1);
    if (const auto n = leading_number(number)) return n;
  }
  return std::nullopt;
}

std::optional<std::int64_t> stream_in(std::string_view name) {
  const auto lower = number_behind(name, "stream");
  return lower ? lower : number_behind(name, "Stream");
}

// With the track first, then its parents.
std::vector<const PerfettoTrack*> line_of(const PerfettoTrack& track, const PerfettoTracks& tracks) {
  std::vector<const PerfettoTrack*> line{&track};
  while (line.back()->parent && line.size() < most_parents) {
    const PerfettoTrack* parent = tracks.find(*line.back()->parent);
    if (parent == nullptr) break;
    line.push_back(parent);
  }
  return line;
}

struct PlacedTrack {
  PerfettoPlace place{};
  std::optional<std::uint32_t> rank{};
};

PlacedTrack placed(const PerfettoTrack& track, const PerfettoTracks& tracks) {
  using Kind = PerfettoPlace::Kind;
  PlacedTrack out;
  PerfettoPlace& place = out.place;
  std::optional<std::int64_t> pid;
  if (track.context) {
    pid = tracks.pid_of_context(*track.context);
    place.context = static_cast<std::int64_t>(*track.context);
  }
  if (track.gpu_queue) place.device = track.gpu;
  for (const PerfettoTrack* one : line_of(track, tracks)) {
    if (!pid) pid = one->pid;
    if (!out.rank) out.rank = rank_in_name(one->name);
    if (!place.device) place.device = number_behind(one->name, "GPU ");
  }
  if (pid && !out.rank) {
    const auto process = tracks.processes().find(*pid);
    if (process != tracks.processes().end()) out.rank = rank_in_name(process->second);
  }
  place.stream = track.counter || track.tid ? std::nullopt : stream_in(track.name);
  place.thread = track.tid;
  place.unit = track.unit;
  place.kind = track.counter                     ? Kind::Counter
               : track.gpu_queue || place.stream ? Kind::Stream
               : track.tid                       ? Kind::Thread
                                                 : Kind::Range;
  place.name = !track.name.empty() ? track.name
               : track.tid         ? fmt::format("thread {}", *track.tid)
               : track.pid         ? fmt::format("process {}", *track.pid)
                                   : "track";
  return out;
}

// What the events of a track say of their place, as Kineto's and Stave's do.
struct SaidPlace {
  std::optional<std::int64_t> stream{};
  std::optional<std::int64_t> device{};

  void look(const PerfettoEvent& event) {
    if (stream || event.args.find("\"stream\": ") == std::string::npos) return;
    const ArgsFields args(event.args);
    stream = integer(args["stream"]);
    device = integer(args["device"]);
  }
  // Names of tracks say it first.
  void complete(PerfettoPlace& place) const {
    using Kind = PerfettoPlace::Kind;
    if (!stream || (place.kind != Kind::Range && place.kind != Kind::Stream)) return;
    place.kind = Kind::Stream;
    if (!place.stream) place.stream = stream;
    if (!place.device) place.device = device;
  }
};

struct StepSlice {
  std::size_t track = 0;
  std::uint32_t step = 0;
  WideTime start = 0;
  WideTime end = 0;
  std::optional<std::string> label{};
  StepPhase phase = StepPhase::Timed;
};

// Where steps are told: by Stave's records, by ranges named as PyTorch does, by a number on each slice.
struct ToldSteps {
  std::vector<StepSlice> recorded{}, named{}, numbered{};

  void record(const PerfettoEvent& event) {
    const StepNumber step = said_step(event);
    if (!step) return;
    const ArgsFields args(event.args);
    recorded.push_back({event.track, step.value, event.start, event.end, unescaped(args["label"].text),
                        args["phase"].text == name_of(StepPhase::Warmup) ? StepPhase::Warmup : StepPhase::Timed});
  }
  // Each rank has those of the first kind that it has at all.
  void settle(PerfettoProbe& probe) const {
    for (const auto* told : {&recorded, &named, &numbered}) {
      std::vector<bool> had;
      for (const ImportRank& rank : probe.ranks) had.push_back(!rank.steps.empty());
      for (const StepSlice& step : *told) {
        const std::size_t at = probe.places[step.track].rank;
        if (had[at]) continue;
        const auto from = since(probe.start, step.start), to = since(probe.start, std::max(step.start, step.end));
        if (from && to) probe.ranks[at].steps.push_back({step.step, *from, *to, step.label, step.phase});
        if (told == &named) probe.ranks[at].step_label = "ProfilerStep#";
      }
    }
    for (ImportRank& rank : probe.ranks) merge_steps(rank.steps);
  }
};

// On a device? Without a category that is known when the place is.
enum class MaybeCollective : std::uint8_t { No, OnStream, AnyPlace };
MaybeCollective may_be_collective(const PerfettoEvent& event) {
  if (event.kind != PerfettoEvent::Kind::Slice) return MaybeCollective::No;
  if (event.category == name_of(Family::Collective)) return MaybeCollective::AnyPlace;
  const KinetoKind kind = kineto_kind(event.category);
  if (!names_collective(event.name)) return MaybeCollective::No;
  if (kind == KinetoKind::Kernel) return MaybeCollective::AnyPlace;
  return kind == KinetoKind::Other && !family_named(event.category) ? MaybeCollective::OnStream : MaybeCollective::No;
}

// Slices of a track come one after the other, and most go on with the step of the last.
void add_step(const StepSlice& step, std::vector<StepSlice>& steps) {
  if (steps.empty() || steps.back().track != step.track || steps.back().step != step.step) return steps.push_back(step);
  steps.back().start = std::min(steps.back().start, step.start);
  steps.back().end = std::max(steps.back().end, step.end);
}

void add_collective(const PerfettoEvent& event, Collectives& to) {
  const ArgsFields args(event.args);
  CollectiveSpan span;
  span.start = event.start;
  span.end = std::max(event.start, event.end);
  span.step = said_step(event).value;
  to.add(collective_in(args, event.name), event.name, span);
}

}  // namespace

StepNumber said_step(const PerfettoEvent& event) {
  if (event.args.find("\"step\": ") == std::string::npos) return {};
  const auto step = integer(ArgsFields(event.args)["step"]);
  return step && *step >= 0 && *step < StepNumber::none ? StepNumber{static_cast<std::size_t>(*step)} : StepNumber{};
}

std::optional<CollectiveArguments> collective_in(const ArgsFields& args, std::string_view kernel) {
  const JsonValue communicator = args["communicator"], op = args["op"];
  const std::optional<std::int64_t> sequence = integer(args["sequence"]);
  if (!communicator || !op || !sequence) return collective_arguments(args.event(), kernel);
  return CollectiveArguments{.communicator = unescaped(communicator.text),
                             .op = unescaped(op.text),
                             .dtype = unescaped(args["dtype"].text),
                             .count = integer(args["count"]),
                             .bytes = integer(args["bytes"]),
                             .ranks = small_integer(args["ranks"]).value_or(0),
                             .sequence = sequence,
                             .by_order = args["matched_by"].text == name_of(MatchedBy::Order)};
}

PerfettoClass classify(const PerfettoEvent& event, const PerfettoPlace& place) {
  using Kind = PerfettoPlace::Kind;
  const bool on_stream = place.kind == Kind::Stream;
  const auto copy = [&] {
    return event.name.find("emset") != std::string::npos ? KinetoKind::Memset : KinetoKind::Copy;
  };
  KinetoKind kind = kineto_kind(event.category);
  std::optional<Family> family = kind == KinetoKind::Other ? family_named(event.category) : std::nullopt;
  if (family) {
    switch (*family) {
      case Family::Compute:
      case Family::Gemm:
      case Family::Collective: kind = KinetoKind::Kernel; break;
      case Family::Memory: kind = copy(); break;
      case Family::Host: kind = KinetoKind::Host; break;
      case Family::HostApi: kind = KinetoKind::Call; break;
      case Family::Stream: kind = KinetoKind::Sync; break;
      case Family::Mark: kind = KinetoKind::Range; break;
      default: break;
    }
  }
  if (kind == KinetoKind::Other && on_stream && !family) {
    const bool moves = event.name.starts_with("Mem") || event.name.starts_with("mem");
    kind = moves ? copy() : KinetoKind::Kernel;
  }
  if (kind == KinetoKind::Other && !on_stream) kind = place.kind == Kind::Thread ? KinetoKind::Host : KinetoKind::Range;
  if (!family) {
    switch (kind) {
      case KinetoKind::Kernel: family = kernel_family(event.name); break;
      case KinetoKind::Copy:
      case KinetoKind::Memset: family = Family::Memory; break;
      case KinetoKind::Call: family = Family::HostApi; break;
      case KinetoKind::Host: family = Family::Host; break;
      case KinetoKind::Sync: family = Family::Stream; break;
      default: family = Family::Mark; break;
    }
  }
  return {kind, *family};
}

Result<void> probe_perfetto(ByteSource& text, PerfettoProbe& probe, Progress* progress,
                            const std::atomic<std::int64_t>* bytes_read) {
  PerfettoPackets packets(text, probe.display, nullptr);
  TimeAge age;
  Collectives collectives;
  struct CollectivePlace {
    std::size_t track;
    MaybeCollective maybe;
  };
  std::vector<CollectivePlace> collective_places;  // beside their spans
  ToldSteps steps;
  std::vector<bool> on_device;     // by track
  std::vector<SaidPlace> said_at;  // by track
  PerfettoEvent event;
  const auto look = [&]() -> Result<void> {
    while (true) {
      TRY(const bool more, packets.next(event));
      if (!more) return {};
      if (++probe.events % 4096 == 0) TRY_VOID(show_progress(progress, bytes_read));
      age.add(event.start);
      if (event.category == perfetto::step_category) {
        steps.record(event);
        continue;
      }
      probe.waits = probe.waits || !event.waits_for.empty();
      on_device.resize(packets.tracks().all().size());
      said_at.resize(on_device.size());
      said_at[event.track].look(event);
      const KinetoKind kind = kineto_kind(event.category);
      if (is_gpu_work(kind)) on_device[event.track] = true;
      if (const MaybeCollective maybe = may_be_collective(event); maybe != MaybeCollective::No) {
        add_collective(event, collectives);
        collective_places.push_back({event.track, maybe});
      }
      if (const auto step = step_number(event.name); step && kind != KinetoKind::GpuRange)
        steps.named.push_back({event.track, *step, event.start, event.end});
      if (const StepNumber step = said_step(event))
        add_step({event.track, step.value, event.start, event.end}, steps.numbered);
    }
  };
  // Also of a damaged archive: what was read before it.
  Result<void> looked = look();
  const WideTime start = age.least();
  probe.start = start;
  std::vector<PlacedTrack> all;
  said_at.resize(packets.tracks().all().size());
  for (std::size_t i = 0; i < said_at.size(); ++i) {
    all.push_back(placed(packets.tracks().all()[i], packets.tracks()));
    said_at[i].complete(all.back().place);
  }
  std::vector<std::uint32_t> said;
  for (const PlacedTrack& one : all)
    if (one.rank) said.push_back(*one.rank);
  std::sort(said.begin(), said.end());
  said.erase(std::unique(said.begin(), said.end()), said.end());
  probe.ranks.resize(std::max<std::size_t>(said.size(), 1));
  const WideTime unix = WideTime{packets.unix_offset_ns().value_or(0)} * ps_per_ns;
  for (std::size_t i = 0; i < probe.ranks.size(); ++i) {
    ImportRank& rank = probe.ranks[i];
    rank.hint.file = probe.name;
    if (!said.empty()) rank.hint.said = said[i];
    rank.info.source = probe.source;
    rank.clock.start = start + unix;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    PlacedTrack& one = all[i];
    if (one.rank)
      one.place.rank = static_cast<std::size_t>(std::lower_bound(said.begin(), said.end(), *one.rank) - said.begin());
    const bool device = one.place.kind == PerfettoPlace::Kind::Stream || (i < on_device.size() && on_device[i]);
    std::optional<std::int64_t>& first = probe.ranks[one.place.rank].info.device;
    if (device && (!first || one.place.device.value_or(0) < *first)) first = one.place.device.value_or(0);
    probe.places.push_back(std::move(one.place));
  }
  steps.settle(probe);
  for (std::size_t i = 0; i < collective_places.size(); ++i) {
    CollectiveSpan& span = collectives.spans[i];
    const PerfettoPlace& place = probe.places[collective_places[i].track];
    ImportRank& rank = probe.ranks[place.rank];
    const auto from = since(start, span.start);
    if (!from || (collective_places[i].maybe == MaybeCollective::OnStream && place.kind != PerfettoPlace::Kind::Stream))
      continue;
    if (!StepNumber{span.step}) span.step = step_at(rank.steps, *from).value;
    span.start += unix;
    span.end += unix;
    rank.clock.collectives.add(collectives.texts[span.communicator], collectives.texts[span.op], span);
  }
  return looked;
}

}  // namespace stave
