// Counts what is wrong with a trace: by kind, with the first place of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/rows.h"

namespace stave {

// One kind of problem. `message` says what it is and what was done; "{}" is its count,
// "[one|many]" as for in_number().
struct ProblemKind {
  std::string_view code;
  Severity severity;
  bool data_lost;
  std::string_view message;
};

namespace problem_kinds {
using enum Severity;
inline constexpr ProblemKind bad_event{"STV0740", Warning, true,
                                       "{} [event is|events are] no JSON and [was|were] left out"};
inline constexpr ProblemKind truncated{"STV0741", Warning, true, "the file ends too early: its writer was stopped"};
inline constexpr ProblemKind odd_text{
    "STV0742", Warning, false,
    "{} [event holds|events hold] bytes that JSON forbids (not UTF-8, control characters, NaN or "
    "inf, a lone backslash); [it was|they were] kept, with those replaced"};
inline constexpr ProblemKind negative_duration{
    "STV0743", Warning, false,
    "{} [event ends before it starts; it|events end before they start; they] got a duration of 0"};
inline constexpr ProblemKind zero_duration{
    "STV0744", Note, false, "{} GPU [record has|records have] a duration of 0: the recorder did not time [it|them]"};
inline constexpr ProblemKind no_time{
    "STV0745", Warning, true, "{} [event has|events have] no time, or one more than 50 days from the others; left out"};
inline constexpr ProblemKind orphan{
    "STV0746", Warning, false,
    "{} GPU [record|records] without the call that launched [it|them]: the recording started later"};
inline constexpr ProblemKind overlap{"STV0747", Note, false,
                                     "{} [kernel starts before another one of its|kernels start before another one of "
                                     "their] stream ended; shown in a second "
                                     "lane (programmatic dependent launch does this)"};
inline constexpr ProblemKind unbalanced{"STV0748", Warning, true,
                                        "{} begin [event|events] without an end, or the reverse"};
inline constexpr ProblemKind before_launch{
    "STV0749", Warning, false,
    "{} GPU [record starts|records start] before the call that launched [it|them]: the two clocks "
    "differ"};
inline constexpr ProblemKind shared_correlation{
    "STV0750", Warning, false,
    "{} correlation [id stands|ids stand] for several calls of one process; joined with the last one"};
inline constexpr ProblemKind contradicted_streams{"STV0751", Note, false,
                                                  "{} [wait of a stream for an event contradicts|waits of streams for "
                                                  "events contradict] the times; no [edge for it|edges for those]"};
inline constexpr ProblemKind contradicted_host{"STV0751", Note, false,
                                               "{} [wait|waits] of the host ended more than 30 us before what "
                                               "[it|they] waited for; no [edge for it|edges for those]"};
inline constexpr ProblemKind no_kernels{"STV0752", Warning, false, "no kernels were recorded"};
inline constexpr ProblemKind graph_level{
    "STV0753", Warning, true,
    "no kernels were recorded, only {} graph [launch|launches]: profile again with --cuda-graph-trace=node"};
inline constexpr ProblemKind missing_table{"STV0754", Note, false, "not in the file: {}"};
inline constexpr ProblemKind schema_version{"STV0755", Note, false, "{}"};
inline constexpr ProblemKind recorder_says{"STV0756", Warning, false, "the recorder says: {}"};
inline constexpr ProblemKind warmup{"STV0757", Note, false,
                                    "{} [record|records] before the recording's start (warm-up)"};
inline constexpr ProblemKind bad_row{"STV0758", Warning, true,
                                     "{} [row holds|rows hold] values out of range and [was|were] left out"};
inline constexpr ProblemKind damaged{"STV0759", Warning, true, "damaged: {}; what was read before is kept"};
inline constexpr ProblemKind capped{"STV0760", Warning, false,
                                    "exactly {} [event|events]: the producer may have cut the trace there"};
inline constexpr ProblemKind rank_guess{"STV0761", Note, false, "{}"};
inline constexpr ProblemKind rank_twice{"STV0762", Warning, false, "{}"};
inline constexpr ProblemKind clocks{"STV0763", Note, false, "{}"};
inline constexpr ProblemKind not_read{"STV0764", Note, false, "not read: {}"};
inline constexpr ProblemKind covers{"STV0765", Warning, false,
                                    "{} [kernel lasts over several later ones of its|kernels last over several later "
                                    "ones of their] stream: a wrong end?"};
inline constexpr ProblemKind other_formats{"STV0766", Warning, true,
                                           "traces of other formats in the folder were not read, name them: {}"};
inline constexpr ProblemKind far_clocks{"STV0767", Warning, false, "{}; are these the ranks of one run?"};
inline constexpr ProblemKind bad_message{"STV0770", Warning, true,
                                         "{} [message is damaged or lacks what it must have and was|messages are "
                                         "damaged or lack what they must have and were] left out"};
inline constexpr ProblemKind missing_text{
    "STV0771", Warning, false,
    "{} [text that was|texts that were] told before the recording's start; shown as [its|their] number"};
inline constexpr ProblemKind bad_dependency{"STV0773", Note, false,
                                            "{} [dependency contradicts|dependencies contradict] the times or "
                                            "[names|name] no node; no [edge for it|edges for those]"};
}  // namespace problem_kinds

class ProblemCounts {
 public:
  struct At {
    std::string_view file{};
    std::optional<std::int64_t> byte{};  // of the text, decompressed
    std::string_view row{};              // "CUPTI_ACTIVITY_KIND_KERNEL row 17", where there are rows
  };

  void count(const ProblemKind& kind, const At& at, std::int64_t by = 1);
  // With the text that takes the place of "{}"; each text is counted apart.
  void say(const ProblemKind& kind, const At& at, std::string_view text, std::int64_t by = 1);

  bool data_lost() const { return data_lost_; }
  // By code, then in the order they came.
  std::vector<TimelineProblem> rows() const;

 private:
  struct Counted {
    const ProblemKind* kind;
    std::int64_t count = 0;
    std::string text;
    std::string file;
    std::string row;
    std::optional<std::int64_t> byte;
  };
  // Key: code, file for those that are counted by file, text, else the kind's: a code may have two.
  std::map<std::tuple<std::string, std::string, std::string>, Counted> counted_;
  bool data_lost_ = false;
};

// For a file, whose bytes do not depend on where its inputs lay.
std::vector<TimelineProblem> without_folders(std::vector<TimelineProblem> problems);

}  // namespace stave
