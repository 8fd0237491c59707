#include <QRegularExpression>

#include <algorithm>
#include <set>

#include "gui/search.h"
#include "gui/session.h"

namespace stave::gui {
namespace {

bool is_of_line(const Timeline& timeline, TimelineCommandId command, std::uint32_t line) {
  for (; command; command = timeline.command(command).parent)
    if (timeline.command(command).line == line) return true;
  return false;
}

}  // namespace

std::optional<SliceRef> Session::current() const {
  return selection_.empty() ? std::nullopt : std::optional(selection_.front());
}

void Session::select(std::optional<SliceRef> slice) {
  select(slice ? std::vector<SliceRef>{*slice} : std::vector<SliceRef>{});
}

void Session::select(std::vector<SliceRef> slices) {
  std::erase_if(slices, [&](SliceRef ref) {
    return ref.run >= runs_.size() || !ref.slice || ref.slice.row() >= runs_[ref.run].run->timeline->slices().size();
  });
  if (slices == selection_ && !range_) return;
  selection_ = std::move(slices);
  range_.reset();
  range_tracks_.clear();
  emit selection_changed();
  statistics_now();
}

void Session::select_line(std::uint32_t line) {
  const RunPtr run = chosen_run();
  if (!run || line == 0) return;
  const Timeline& timeline = *run->timeline;
  std::vector<std::uint8_t> wanted;
  for (std::size_t i = 0; i < timeline.commands().size(); ++i)
    wanted.push_back(is_of_line(timeline, TimelineCommandId{i}, line));
  std::vector<SliceRef> slices;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (slice.command && wanted[slice.command.value] && run->index->work(row) != WorkKind::None)
      slices.push_back({*chosen_, SliceId{row + 1}});
  }
  if (slices.empty()) return;
  std::ranges::stable_sort(slices, {}, [&](SliceRef ref) { return timeline.slice(ref.slice).start; });
  const SliceRef first = slices.front();
  select(std::move(slices));
  emit revealed(first);
}

std::vector<std::uint32_t> Session::selected_lines() const {
  std::set<std::uint32_t> lines;
  for (const SliceRef ref : selection_) {
    const Timeline& timeline = *runs_[ref.run].run->timeline;
    const Slice& slice = timeline.slice(ref.slice);
    if (slice.command && timeline.command(slice.command).line > 0) lines.insert(timeline.command(slice.command).line);
    if (lines.size() > 1000) break;
  }
  return {lines.begin(), lines.end()};
}

void Session::select_range(std::optional<RangeSelection> range, std::vector<std::pair<std::size_t, TrackId>> tracks) {
  range_ = std::move(range);
  range_tracks_ = std::move(tracks);
  emit selection_changed();
  statistics_now();
}

void Session::statistics_now() {
  std::vector<SelectedSlices> selected;
  if (range_) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      SelectedSlices one{runs_[r].run, {}, {}, Interval{range_->span.start - shift(r), range_->span.end - shift(r)}};
      for (const auto& [run, track] : range_tracks_)
        if (run == r) one.tracks.push_back(track);
      if (!one.tracks.empty()) selected.push_back(std::move(one));
    }
  } else {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      SelectedSlices one{runs_[r].run, {}, {}, {}};
      for (const SliceRef ref : selection_)
        if (ref.run == r) one.rows.push_back(ref.slice.row());
      if (!one.rows.empty()) selected.push_back(std::move(one));
    }
  }
  if (selected.empty()) {
    jobs_.cancel("statistics");
    statistics_ = {};
    emit statistics_changed();
    return;
  }
  jobs_.start<SelectionStatistics>(
      "statistics",
      [selected = std::move(selected)](Progress& progress) -> Result<SelectionStatistics> {
        return statistics_of(selected, &progress);
      },
      [this](Result<SelectionStatistics> made) {
        statistics_ = made ? *std::move(made) : SelectionStatistics{};
        emit statistics_changed();
      });
}

void Session::search(const QString& pattern) {
  pattern_ = pattern;
  search_problem_.clear();
  const QRegularExpression wanted(pattern, QRegularExpression::CaseInsensitiveOption);
  if (pattern.isEmpty() || !wanted.isValid() || runs_.empty()) {
    jobs_.cancel("search");
    if (!wanted.isValid()) search_problem_ = QString("not a regular expression: %1").arg(wanted.errorString());
    marks_.clear();
    mark_.reset();
    found_problems_ = 0;
    emit marks_changed();
    return;
  }
  std::vector<SearchedRun> searched;
  for (std::size_t r = 0; r < runs_.size(); ++r)
    if (!runs_[r].ghost) searched.push_back({runs_[r].run, r, shift(r)});
  Problems told = problems();
  found_problems_ = static_cast<std::size_t>(
      std::ranges::count_if(told, [&](const Problem& problem) { return finds(wanted, problem); }));
  jobs_.start<std::vector<SliceRef>>(
      "search",
      [searched = std::move(searched), wanted, told = std::move(told)](Progress& progress)
          -> Result<std::vector<SliceRef>> { return search_runs(searched, wanted, told, progress); },
      [this](Result<std::vector<SliceRef>> hits) {
        marks_ = hits ? *std::move(hits) : std::vector<SliceRef>{};
        mark_.reset();
        emit marks_changed();
      });
}

void Session::next_mark(bool forward) {
  if (marks_.empty()) return;
  const std::size_t n = marks_.size();
  if (!mark_) {
    mark_ = forward ? 0 : n - 1;
  } else {
    mark_ = forward ? (*mark_ + 1) % n : (*mark_ + n - 1) % n;
  }
  select(marks_[*mark_]);
  emit marks_changed();
  emit revealed(marks_[*mark_]);
}

void Session::set_bookmarks(std::vector<Bookmark> bookmarks) {
  bookmarks_ = std::move(bookmarks);
  emit bookmarks_changed();
}

}  // namespace stave::gui
