#include "gui/run_study.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/slack.h"

namespace stave::gui {
namespace {

constexpr std::size_t most_beside = 200, most_shown = 2000;

LateFor why_late(const Run& run, SliceId slice) {
  const Timeline& timeline = *run.timeline;
  const Slice& late = timeline.slice(slice);
  std::optional<Time> last;
  LateFor why = LateFor::Unknown;
  const auto consider = [&](SliceId before, bool launch) {
    const Slice& other = timeline.slice(before);
    const Time end = launch ? std::max(other.start, std::min(other.end(), late.start)) : other.end();
    if (end > late.start || (last && end <= *last)) return;
    last = end;
    switch (run.index->work(before.row())) {
      case WorkKind::Compute:
      case WorkKind::Copy: why = LateFor::Compute; break;
      case WorkKind::Communication: why = LateFor::Collective; break;
      case WorkKind::None: why = LateFor::Host; break;
    }
  };
  for (const std::uint32_t at : run.index->inflows(slice)) {
    const SliceFlow& flow = timeline.flows()[at];
    if (flow.kind != FlowKind::Collective) consider(flow.from, flow.kind == FlowKind::Launch);
  }
  const auto rows = run.index->rows(late.track);
  const auto at =
      std::ranges::lower_bound(rows, late.start, {}, [&](std::uint32_t row) { return timeline.slices()[row].start; });
  if (at != rows.begin()) consider(SliceId{*(at - 1) + 1}, false);
  return why;
}

Meetings meetings_of(const Run& run) {
  const Timeline& timeline = *run.timeline;
  std::map<std::tuple<std::string_view, std::int64_t, std::string_view>, Meeting> meetings;
  std::set<std::uint32_t> ranks;
  for (const CollectiveDetail& row : timeline.collectives()) {
    const std::uint32_t rank = timeline.track(timeline.slice(row.slice).track).rank;
    ranks.insert(rank);
    std::string_view op = timeline.text(row.op);
    if (op == "send" || op == "recv") op = "send, recv";  // the two sides of one meeting
    meetings[{timeline.text(row.communicator), row.sequence, op}].slices.try_emplace(rank, row.slice);
  }
  Meetings found{.count = meetings.size(), .shown = {}, .ranks = {ranks.begin(), ranks.end()}, .late_of = {}};
  for (auto& [key, meeting] : meetings) {
    std::tie(meeting.communicator, meeting.sequence, meeting.op) = key;
    Time last = Time::min();
    meeting.first = Time::max();
    for (const auto& [rank, slice] : meeting.slices) {
      const Time start = timeline.slice(slice).start;
      meeting.first = std::min(meeting.first, start);
      if (start > last) last = start, meeting.last = rank;
    }
    meeting.late = last - meeting.first;
    found.most_late = std::max(found.most_late, meeting.late);
    if (meeting.late.count() > 0) {
      meeting.why = why_late(run, meeting.slices.at(meeting.last));
      found.late_of[meeting.last].sum += meeting.late;
      ++found.late_of[meeting.last].times;
      found.reasons[static_cast<std::size_t>(meeting.why)] += meeting.late;
    }
    if (found.shown.size() < most_shown) found.shown.push_back(std::move(meeting));
  }
  return found;
}

std::vector<std::uint32_t> work_beside(const Run& run, const std::vector<Picoseconds>& slack) {
  std::vector<std::uint32_t> rows;
  std::vector<bool> on_path(run.timeline->slices().size());
  for (const PathPart& part : run.report.critical_path)
    if (part.slice && part.kind == PathPart::Kind::Work) on_path[part.slice.row()] = true;
  for (std::uint32_t row = 0; row < on_path.size(); ++row)
    if (!on_path[row] && run.index->work(row) != WorkKind::None && slack[row] != no_slack) rows.push_back(row);
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(most_beside, rows.size()));
  std::partial_sort(rows.begin(), end, rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slack[a] != slack[b] ? slack[a] < slack[b] : a < b;
  });
  rows.erase(end, rows.end());
  return rows;
}

}  // namespace

RunStudy study(const Run& run) {
  RunStudy found;
  found.slack = slack(*run.index, run.report.window.span);
  found.beside = work_beside(run, found.slack);
  found.meetings = meetings_of(run);
  return found;
}

}  // namespace stave::gui
