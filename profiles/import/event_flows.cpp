#include "profiles/import/event_flows.h"

#include <algorithm>
#include <map>
#include <set>

#include "profiles/import/clock_skew.h"

namespace stave {
namespace {

struct ByIssue {
  bool operator()(const IssuedWork& a, const IssuedWork& b) const {
    return a.issued != b.issued ? a.issued < b.issued : a.slice < b.slice;
  }
};

using Works = std::vector<IssuedWork>;

// The last-ending of what was issued at the last instant before `time`: a graph
// launch issues many at once.
const IssuedWork* last_before(const Works& works, Time time) {
  auto at = std::lower_bound(works.begin(), works.end(), time,
                             [](const IssuedWork& work, Time t) { return work.issued < t; });
  if (at == works.begin()) return nullptr;
  const Time issued = (--at)->issued;
  const IssuedWork* last = &*at;
  while (at != works.begin() && (--at)->issued == issued)
    if (at->end > last->end) last = &*at;
  return last;
}

// The first-starting of what was issued at the first instant from `time` on.
const IssuedWork* first_after(const Works& works, Time time) {
  auto at = std::lower_bound(works.begin(), works.end(), time,
                             [](const IssuedWork& work, Time t) { return work.issued < t; });
  if (at == works.end()) return nullptr;
  const IssuedWork* first = &*at;
  for (const Time issued = at->issued; at != works.end() && at->issued == issued; ++at)
    if (at->start < first->start) first = &*at;
  return first;
}

}  // namespace

EventFlows event_flows(const std::vector<IssuedWork>& work, const std::vector<IssuedWait>& waits) {
  std::map<TrackId, Works> by_track;
  for (const IssuedWork& one : work) by_track[one.track].push_back(one);
  for (auto& [track, works] : by_track) std::sort(works.begin(), works.end(), ByIssue{});

  EventFlows out;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const IssuedWait& wait : waits) {
    const auto on = by_track.find(wait.recorded_on);
    if (on == by_track.end()) continue;
    const IssuedWork* from = last_before(on->second, wait.recorded);
    if (from == nullptr) continue;
    SliceId to = wait.call;
    bool possible = from->end <= wait.call_end + most_clock_skew;
    if (wait.waiting) {
      if (wait.waiting == wait.recorded_on) continue;  // the stream's own order says it
      const auto waiting = by_track.find(wait.waiting);
      const IssuedWork* next = waiting == by_track.end() ? nullptr : first_after(waiting->second, wait.waited);
      if (next == nullptr) continue;
      to = next->slice;
      possible = from->end <= next->start;
    } else if (!to) {
      continue;
    } else if (possible) {
      // A skew may put the whole of a short copy behind the return. What ran before it was waited for as well.
      while (from != nullptr && from->start >= wait.call_end) from = last_before(on->second, from->issued);
      if (from == nullptr) continue;
    }
    if (!possible) {
      ++(wait.waiting ? out.contradicted_streams : out.contradicted_host);
      continue;
    }
    if (!known.emplace(from->slice.value, to.value).second) continue;
    out.flows.push_back({from->slice, to, wait.waiting ? FlowKind::Event : FlowKind::Host, wait.certainty});
  }
  return out;
}

void count_contradicted(const EventFlows& found, std::string_view file, ProblemCounts& problems) {
  if (found.contradicted_streams > 0)
    problems.count(problem_kinds::contradicted_streams, {.file = file}, found.contradicted_streams);
  if (found.contradicted_host > 0)
    problems.count(problem_kinds::contradicted_host, {.file = file}, found.contradicted_host);
}

}  // namespace stave
