#include "gui/search.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <set>
#include <tuple>

#include "gui/view/parallel.h"

namespace stave::gui {
namespace {

constexpr std::size_t piece = 1 << 17;  // slices that a thread looks at without asking whether it is still wanted

bool matches(const QRegularExpression& wanted, std::string_view text) {
  return wanted.match(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()))).hasMatch();
}

struct Found {
  Time time{};
  std::size_t run = 0;
  std::uint32_t row = 0;

  friend bool operator<(const Found& a, const Found& b) {
    return std::tuple(a.time, a.run, a.row) < std::tuple(b.time, b.run, b.row);
  }
};

class RunSearch {
 public:
  RunSearch(const SearchedRun& searched, const QRegularExpression& wanted, const std::set<std::uint32_t>& lines)
      : searched_(searched),
        timeline_(*searched.run->timeline),
        wanted_(wanted),
        names_(timeline_.names().size()),
        full_names_(timeline_.slices().size()) {
    for (const TimelineCommand& command : timeline_.commands())
      commands_.push_back(matches(wanted, command.key) || lines.contains(command.line));
    for (const Track& track : timeline_.tracks()) tracks_.push_back(matches(wanted, track.name));
    for (const KernelDetail& kernel : timeline_.kernels())
      if (kernel.demangled_name && named(kernel.demangled_name)) full_names_[kernel.slice.row()] = true;
  }

  std::vector<Found> hits_of(std::size_t begin, std::size_t end) {
    std::vector<Found> hits;
    for (std::size_t row = begin; row < end; ++row) {
      const Slice& slice = timeline_.slices()[row];
      const auto at = static_cast<std::uint32_t>(row);
      const bool hit =
          tracks_[slice.track.value] || full_names_[row] ||
          (slice.command && commands_[slice.command.value] && searched_.run->index->work(at) != WorkKind::None) ||
          (slice.name && named(slice.name));
      if (hit) hits.push_back({slice.start + searched_.shift, searched_.position, at});
    }
    if (!std::is_sorted(hits.begin(), hits.end())) std::sort(hits.begin(), hits.end());
    return hits;
  }

 private:
  // Each text once, however many slices have it; twice if two threads come to it at once.
  bool named(StringId id) {
    enum : std::uint8_t { NotAsked, No, Yes };
    std::atomic<std::uint8_t>& known = names_[id.value];
    std::uint8_t answer = known.load(std::memory_order_relaxed);
    if (answer == NotAsked) {
      answer = matches(wanted_, timeline_.text(id)) ? Yes : No;
      known.store(answer, std::memory_order_relaxed);
    }
    return answer == Yes;
  }

  const SearchedRun& searched_;
  const Timeline& timeline_;
  const QRegularExpression& wanted_;
  std::vector<std::atomic<std::uint8_t>> names_;
  std::vector<bool> commands_, tracks_, full_names_;
};

// Of lists that are sorted.
std::vector<SliceRef> merged(const std::vector<std::vector<Found>>& lists) {
  using Next = std::pair<Found, std::size_t>;  // and its list
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::vector<std::size_t> taken(lists.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    count += lists[i].size();
    if (!lists[i].empty()) queue.emplace(lists[i].front(), i);
  }
  std::vector<SliceRef> out;
  out.reserve(count);
  while (!queue.empty()) {
    const auto [hit, list] = queue.top();
    queue.pop();
    // As long as this list goes on before the others', the queue is not needed.
    const std::vector<Found>& hits = lists[list];
    std::size_t& at = taken[list];
    while (at < hits.size() && (queue.empty() || !(queue.top().first < hits[at]))) {
      out.push_back({hits[at].run, SliceId{hits[at].row + 1}});
      ++at;
    }
    if (at < hits.size()) queue.emplace(hits[at], list);
  }
  return out;
}

}  // namespace

bool finds(const QRegularExpression& wanted, const Problem& problem) {
  return matches(wanted, problem.message) || matches(wanted, problem.code);
}

std::vector<SliceRef> search_runs(const std::vector<SearchedRun>& runs, const QRegularExpression& wanted,
                                  const Problems& problems, const Progress& progress) {
  wanted.optimize();
  std::vector<std::vector<Found>> lists;
  for (const SearchedRun& searched : runs) {
    std::set<std::uint32_t> lines;
    for (const Problem& problem : problems)
      if (problem.place.line > 0 && problem.place.file == searched.run->file && finds(wanted, problem))
        lines.insert(problem.place.line);
    RunSearch search(searched, wanted, lines);
    const std::size_t count = searched.run->timeline->slices().size(), pieces = (count + piece - 1) / piece;
    const std::size_t before = lists.size();
    lists.resize(before + pieces);
    in_parallel(pieces, 0, [&](std::size_t i) {
      if (!progress.cancelled()) lists[before + i] = search.hits_of(i * piece, std::min(count, (i + 1) * piece));
    });
    if (progress.cancelled()) return {};
  }
  return merged(lists);
}

}  // namespace stave::gui
