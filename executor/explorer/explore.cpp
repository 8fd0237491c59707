#include "executor/explorer/explore.h"

#include <algorithm>
#include <unordered_set>

#include "executor/explorer/inputs.h"
#include "executor/explorer/transitions.h"

namespace stave {

namespace explorer {
namespace {

struct HashOfKey {
  std::size_t operator()(const StateKey& key) const { return key.first; }
};

// Depth first. The reduction: host actions, records, waits, begins, and starts that
// fit beside everything else only ever enable more and are never disabled, and the
// earlier they happen, the more is in flight together; so they are taken at once. What
// remains is which command ends first. Races and reads of one rank's memory see the
// other ranks only through what has met, which more progress there can but add to:
// so each rank is observed in turn, while the others run ahead.
class Search {
 public:
  Search(const Facts& facts, const ExploreOptions& options)
      : facts_(facts), options_(options), transitions_(facts), inputs_(inputs_of(facts)) {}

  Result<Exploration> run() {
    std::int64_t combinations = 1;
    for (const Input& input : inputs_) {
      combinations *= input.values;
      if (combinations > options_.max_inputs)
        return error_at({.file = facts_.plan->classes[0].expanded.module->file}, "STV0915",
                        "the predicates derive from {} elements of parameters, whose values have more than {} "
                        "combinations: too many to try",
                        inputs_.size(), options_.max_inputs);
    }
    const State initial = transitions_.initial();
    for (std::int64_t i = 0; i < combinations; ++i) {
      State state = initial;
      values_.clear();
      std::int64_t rest = i;
      for (const Input& input : inputs_) {
        values_.push_back(static_cast<std::int32_t>(rest % input.values));
        write(state, input, values_.back());
        rest /= input.values;
      }
      ++result_.inputs;
      TRY_VOID(all_observers(state));
      if (over()) break;
    }
    return std::move(result_);
  }

 private:
  // A state whose transitions are tried one after the other.
  struct Frame {
    State state;
    std::vector<Transition> next;
    std::size_t at = 0;
    std::size_t path = 0;  // length of the path to the state
  };

  bool over() const { return options_.stop_at_race && result_.shows(Defect::Race); }

  Result<void> all_observers(const State& initial) {
    if (!options_.reduce) return from(initial, std::nullopt);
    bool observed = false;
    for (Rank rank = 0; rank < facts_.ranks.size() && !over(); ++rank) {
      if (!facts_.ranks[rank].concurrent) continue;
      observed = true;
      TRY_VOID(from(initial, rank));
    }
    return observed ? Result<void>{} : from(initial, std::nullopt);
  }

  Result<void> from(const State& initial, std::optional<Rank> observer) {
    observer_ = observer;
    visited_.clear();
    path_.clear();
    frames_.clear();
    TRY_VOID(enter(initial, std::vector<char>(facts_.ranks.size(), 1)));
    while (!frames_.empty() && !over()) {
      Frame& frame = frames_.back();
      path_.resize(frame.path);
      if (frame.at == frame.next.size()) {
        frames_.pop_back();
        continue;
      }
      const Transition t = frame.next[frame.at++];
      std::vector<char> touched(facts_.ranks.size());
      State state = frame.at == frame.next.size() ? std::move(frame.state) : frame.state;
      TRY_VOID(take(state, t, touched));
      TRY_VOID(enter(std::move(state), std::move(touched)));
    }
    return {};
  }

  Result<void> enter(State state, std::vector<char> touched) {
    if (options_.reduce) TRY_VOID(settle(state, std::move(touched)));
    if (!options_.reduce && state.mismatched) return {};
    if (!visited_.insert(key_of(state)).second) return {};
    TRY_VOID(count_state());
    std::vector<Transition> next;
    std::vector<CommandId> held_up;
    seen_.clear();
    for (Rank rank = 0; rank < facts_.ranks.size(); ++rank) {
      held_up.clear();
      transitions_.enabled(state, rank, next, &held_up);
      transitions_.race_held_up(state, rank, held_up, seen_);
    }
    note_seen();
    if (next.empty()) {
      if (!transitions_.done(state) && !state.mismatched) note_deadlock(state);
      return {};
    }
    if (options_.reduce) keep_first_choice(next);
    frames_.push_back({std::move(state), std::move(next), 0, path_.size()});
    return {};
  }

  // Takes what need not be tried in another order. A loop that never ends is left to `enter`,
  // which tries its transitions among the others.
  Result<void> settle(State& state, std::vector<char> touched) {
    constexpr int long_passes = 256;
    std::unordered_set<StateKey, HashOfKey> passed;
    std::vector<Transition> next;
    bool more = true;
    for (int passes = 0; more; ++passes) {
      if (passes >= long_passes) {
        if (!passed.insert(key_of(state)).second) return {};
        TRY_VOID(count_state());
      }
      more = false;
      for (Rank rank = 0; rank < facts_.ranks.size(); ++rank) {
        if (touched[rank] == 0) continue;
        touched[rank] = 0;
        next.clear();
        transitions_.enabled(state, rank, next);
        for (const Transition& t : next) {
          if (!at_once(t)) continue;
          TRY_VOID(take(state, t, touched));
          more = true;
        }
      }
    }
    return {};
  }

  Result<void> count_state() {
    if (++result_.states > options_.max_states)
      return error_at({.file = facts_.plan->classes[0].expanded.module->file}, "STV0914",
                      "the schedule has more than {} states: too many to try all", options_.max_states);
    if (options_.progress) options_.progress->ran();
    return still_wanted(options_.progress);
  }

  bool at_once(const Transition& t) const {
    const RankFacts& f = facts_.ranks[t.rank];
    switch (t.kind) {
      case Transition::Kind::Host: return f.rank_class->program.hosts.size() == 1;
      case Transition::Kind::Pass:
      case Transition::Kind::Begin: return true;
      case Transition::Kind::Start: return !f.waits_for_sms || f.commands[t.command.value].ctas == 0;
      case Transition::Kind::End: return t.rank != observer_ && !t.choice;
    }
    return false;
  }

  // A read whose value is free commutes with everything else.
  static void keep_first_choice(std::vector<Transition>& next) {
    const auto first = std::find_if(next.begin(), next.end(), [](const Transition& t) { return t.choice.has_value(); });
    if (first == next.end()) return;
    const Transition chosen = *first;
    std::erase_if(next, [&](const Transition& t) {
      return !t.choice || t.rank != chosen.rank || t.lane != chosen.lane || t.node != chosen.node;
    });
  }

  Result<void> take(State& state, const Transition& t, std::vector<char>& touched) {
    ++result_.transitions;
    path_.push_back(t);
    seen_.clear();
    TRY_VOID(transitions_.apply(state, t, seen_, touched));
    note_seen();
    return {};
  }

  void note_seen() {
    for (const Sighting& sighting : seen_)
      if (!result_.shows(sighting.defect)) note(sighting.defect, transitions_.text(sighting));
  }

  void note(Defect defect, std::string what) {
    result_.witnesses[static_cast<std::size_t>(defect)] = witness_of(std::move(what));
  }

  void note_deadlock(const State& state) {
    if (result_.shows(Defect::Deadlock)) return;
    std::string what = "no rank can go on";
    for (const std::string& line : transitions_.waiting(state)) what += "; " + line;
    note(Defect::Deadlock, std::move(what));
  }

  Witness witness_of(std::string what) const {
    Witness witness;
    witness.what = std::move(what);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (const Input::Place& place : inputs_[i].places)
        witness.inputs.push_back(fmt::format("rank {} {} = {}", place.rank, inputs_[i].name, values_[i]));
    for (const Transition& t : path_)
      if (std::string line = transitions_.text(t); !line.empty()) witness.steps.push_back(std::move(line));
    return witness;
  }

  const Facts& facts_;
  const ExploreOptions& options_;
  Transitions transitions_;
  std::vector<Input> inputs_;
  std::vector<std::int32_t> values_;  // of the inputs, now
  std::optional<Rank> observer_;
  std::unordered_set<StateKey, HashOfKey> visited_;
  std::vector<Frame> frames_;
  std::vector<Transition> path_;  // from the initial state
  std::vector<Sighting> seen_;
  Exploration result_;
};

}  // namespace
}  // namespace explorer

std::string_view name_of(Defect defect) {
  constexpr std::array<std::string_view, defect_count> names{"race", "uninitialised", "mismatch", "deadlock"};
  return names[static_cast<std::size_t>(defect)];
}

Result<Exploration> explore(const Plan& plan, const ExploreOptions& options) {
  for (const RankClass& c : plan.classes) {
    double bytes = 0;
    for (const Buffer& buffer : c.expanded.buffers) bytes += static_cast<double>(buffer.bytes);
    if (bytes > static_cast<double>(options.max_bytes))
      return error_at({.file = c.expanded.module->file}, "STV0916",
                      "the buffers of a rank take {:.0f} bytes and at most {} can be followed: choose smaller params",
                      bytes, options.max_bytes);
  }
  const explorer::Facts facts = explorer::facts_of(plan, options.sms);
  return explorer::Search(facts, options).run();
}

}  // namespace stave
