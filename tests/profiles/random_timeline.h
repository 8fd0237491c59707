// Timelines with every kind of row, for the laws of the store.
#pragma once

#include <rapidcheck.h>

#include <limits>
#include <string>

#include "core/timeline/timeline.h"

namespace stave {

class RandomTimeline {
 public:
  Timeline make() {
    names();
    tracks();
    const int slices = up_to(40);
    for (int i = 0; i < slices; ++i) slice();
    if (slices > 0) details();
    rest();
    return std::move(out_);
  }

 private:
  static int up_to(int most) { return *rc::gen::inRange(0, most + 1); }
  static std::uint32_t below(std::size_t count) {
    return *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(count));
  }
  static bool coin() { return *rc::gen::arbitrary<bool>(); }
  static std::int64_t integer() { return *rc::gen::arbitrary<std::int64_t>(); }
  static std::uint32_t word() { return *rc::gen::arbitrary<std::uint32_t>(); }
  static std::string text() { return *rc::gen::arbitrary<std::string>(); }
  static std::optional<std::int64_t> maybe() { return coin() ? std::optional(integer()) : std::nullopt; }
  static std::optional<std::uint32_t> maybe_word() { return coin() ? std::optional(word()) : std::nullopt; }
  static std::optional<Picoseconds> maybe_time() {
    return coin() ? std::optional(Picoseconds{integer()}) : std::nullopt;
  }
  static std::optional<LaunchDims> maybe_dims() {
    return coin() ? std::optional(LaunchDims{word(), word(), word()}) : std::nullopt;
  }
  StringId name() { return StringId{below(out_.names().size())}; }
  StringId maybe_name() { return coin() ? name() : StringId{}; }

  void names() {
    const int count = up_to(5);
    out_.intern("first");
    for (int i = 0; i < count; ++i) out_.intern(text());
  }

  void tracks() {
    const int tracks = 1 + up_to(4);
    for (int i = 0; i < tracks; ++i)
      out_.add(Track{word(), static_cast<TrackKind>(below(6)), text(), maybe(), maybe(), maybe(), maybe(), maybe_word(),
                     text(), i > 0 && coin() ? TrackId{below(static_cast<std::size_t>(i))} : TrackId{}});
    const int commands = up_to(4);
    for (int i = 0; i < commands; ++i)
      out_.add(TimelineCommand{
          text(), text(), static_cast<Family>(below(family_count)), word(), word(), maybe(), maybe(),
          i > 0 && coin() ? TimelineCommandId{below(static_cast<std::size_t>(i))} : TimelineCommandId{}});
  }

  void slice() {
    const std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2;
    const auto commands = out_.commands().size();
    out_.add(Slice{Time{*rc::gen::inRange<std::int64_t>(-half, half)}, Time{*rc::gen::inRange<std::int64_t>(0, half)},
                   TrackId{below(out_.tracks().size())}, name(),
                   commands > 0 && coin() ? TimelineCommandId{below(commands)} : TimelineCommandId{},
                   coin() ? StepNumber{*rc::gen::inRange<std::uint32_t>(0, 1000)} : StepNumber{}, word(),
                   *rc::gen::arbitrary<std::uint16_t>(), static_cast<Family>(below(family_count)),
                   *rc::gen::arbitrary<std::uint8_t>()});
  }

  void details() {
    const auto slices = static_cast<std::uint32_t>(out_.slices().size());
    const auto any = [&] { return SliceId{below(slices) + 1}; };
    // Backwards, so that the sink has to sort.
    for (std::uint32_t id = slices; id > 0; --id) {
      const SliceId slice{id};
      const int what = up_to(6);
      if (what == 1)
        out_.add(KernelDetail{slice, maybe(), maybe(), maybe(), maybe_dims(), maybe_dims(), maybe_dims(), maybe_word(),
                              maybe_word(), maybe_word(), maybe_name()});
      if (what == 2)
        out_.add(CopyDetail{slice, coin(), maybe(), maybe(), maybe(), maybe_word(), maybe_word(), maybe_word(),
                            maybe_word(), maybe_word(), maybe_word()});
      if (what == 3) out_.add(ApiDetail{slice, maybe(), maybe()});
      if (what == 4) out_.add(ArgsDetail{slice, text()});
      if (what == 5)
        out_.add(CollectiveDetail{slice, name(), integer(), name(), maybe_name(), maybe(), maybe(), word(),
                                  maybe_time(), maybe_time(), maybe_name(), maybe_name(), maybe_word(),
                                  static_cast<MatchedBy>(below(3))});
      if (what == 6)
        for (int part = up_to(2); part >= 0; --part)
          out_.add(CostPart{slice, name(), Picoseconds{integer()}, maybe_time(), maybe_time(), name(), name()});
    }
    for (int i = up_to(5); i > 0; --i)
      out_.add(SliceFlow{any(), any(), static_cast<FlowKind>(below(flow_kind_count)),
                         static_cast<Certainty>(below(certainty_count))});
  }

  void rest() {
    const int sources = up_to(2);
    for (int i = 0; i < sources; ++i) out_.add(SourceInfo{text(), text(), integer(), text(), text()});
    const int ranks = up_to(3);
    for (int i = 0; i < ranks; ++i)
      out_.add(RankInfo{static_cast<std::uint32_t>(i), text(), text(), maybe(), maybe(), text(), text(),
                        sources > 0 && coin() ? std::optional(below(static_cast<std::size_t>(sources))) : std::nullopt,
                        Picoseconds{integer()}, maybe_time(), text()});
    for (int i = up_to(5); i > 0; --i)
      out_.add(
          CounterSample{TrackId{below(out_.tracks().size())}, Time{integer()}, static_cast<double>(integer()) / 7.0});
    // Backwards: the order is kept, not made.
    for (std::uint32_t step = 3; step > 0; --step)
      out_.add(StepSpan{step, 0, coin() ? StepPhase::Warmup : StepPhase::Timed, text(), Time{1}, Time{2}, maybe(),
                        maybe(), maybe()});
    for (int i = up_to(2); i > 0; --i)
      out_.add(TimelineProblem{static_cast<Severity>(below(3)), "STV0901", integer(), text(), text(), word(), word(),
                               maybe()});
  }

  Timeline out_;
};

inline Timeline random_timeline() { return RandomTimeline().make(); }

}  // namespace stave
