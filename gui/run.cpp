#include "gui/run.h"

#include <QThreadPool>

#include <algorithm>
#include <filesystem>

#include "gui/view/parallel.h"
#include "workbench/import.h"

namespace stave::gui {
namespace {

Result<RunPtr> load_run_file(const std::string& file, Origin origin, const std::string& shown_file, std::string notes) {
  TRY(OpenedRun opened, open_run(file));
  Run run;
  run.file = shown_file;
  run.origin = origin;
  run.info = std::move(opened.run.info);
  run.label = std::move(opened.label);
  run.title = file_name(shown_file);
  // A label that only says what the run is anyway stands in tool tips.
  if (origin == Origin::File && !run.info.label.empty() && run.info.label != name_of(run.info.kind))
    run.title += " (" + run.info.label + ")";
  run.problems = std::move(opened.problems);
  run.notes = std::move(notes);
  return make_run(std::move(run), std::move(opened.timeline));
}

template <class T>
std::shared_ptr<const T> let_go_elsewhere(std::unique_ptr<const T> made) {
  return {made.release(), [](const T* gone) { QThreadPool::globalInstance()->start([gone] { delete gone; }); }};
}

std::map<std::uint32_t, LineCost> line_costs_of(const TimelineIndex& index) {
  const Timeline& timeline = index.timeline();
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineCost> by_rank;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (index.work(row) == WorkKind::None || !slice.command) continue;
    LineCost& cost = by_rank[{timeline.command(slice.command).line, timeline.track(slice.track).rank}];
    cost.time += slice.duration;
    ++cost.count;
  }
  std::map<std::uint32_t, LineCost> out;
  for (const auto& [place, cost] : by_rank)
    if (LineCost& most = out[place.first]; place.first != 0 && cost.time >= most.time) most = cost;
  out.erase(0);
  return out;
}

}  // namespace

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool is_schedule_file(const std::string& file) { return file.ends_with(".stave"); }

RunPtr make_run(Run run, Timeline timeline) {
  run.timeline = let_go_elsewhere(std::make_unique<const Timeline>(std::move(timeline)));
  run.index = let_go_elsewhere(std::make_unique<const TimelineIndex>(*run.timeline));
  in_parallel(2, 2, [&](std::size_t part) {
    if (part == 0) {
      run.report = make_report(*run.index, {"all", "", whole(*run.timeline)}, run.info.kind);
    } else {
      run.lod = let_go_elsewhere(std::make_unique<const Lod>(*run.index));
      run.lines = line_costs_of(*run.index);
    }
  });
  return let_go_elsewhere(std::make_unique<const Run>(std::move(run)));
}

Result<RunPtr> load_run(const std::vector<std::string>& files, const std::string& scratch, Progress* progress) {
  const std::string& first = files.front();
  if (progress) progress->begin("opening");
  std::error_code error;
  if (!std::filesystem::exists(first, error)) return error_at({.file = first}, "STV0001", "there is no such file");
  if (files.size() == 1 && std::filesystem::is_regular_file(first, error) && open_store(first))
    return load_run_file(first, Origin::File, first, "");
  ImportJob job;
  job.files = files;
  // Named by what is read, so that two imports at once do not share a file.
  job.output =
      fmt::format("{}/{:x}.sqlite", scratch, std::hash<std::string>()(fmt::format("{}", fmt::join(files, "\n"))));
  job.replace = true;
  TRY(const Imported imported, import_traces(job, progress));
  TRY_VOID(still_wanted(progress));
  return load_run_file(job.output, Origin::Imported, first, import_text(imported, job));
}

std::optional<SliceId> same_slice(const Run& from, SliceId slice, const Run& to) {
  const Timeline& a = *from.timeline;
  const Timeline& b = *to.timeline;
  const Slice& wanted = a.slice(slice);
  const Track& track = a.track(wanted.track);
  const std::string_view key = wanted.command ? std::string_view(a.command(wanted.command).key) : std::string_view();
  const std::string_view name = a.text(wanted.name);
  std::size_t before = 0;  // slices of the name on the track, where there is no command to go by
  if (key.empty())
    for (const std::uint32_t row : from.index->rows(wanted.track)) {
      if (row == slice.row()) break;
      before += a.text(a.slices()[row].name) == name;
    }
  for (std::size_t t = 0; t < b.tracks().size(); ++t) {
    const Track& other = b.tracks()[t];
    if (other.rank != track.rank || other.kind != track.kind || (key.empty() && other.name != track.name)) continue;
    std::size_t seen = 0;
    for (const std::uint32_t row : to.index->rows(TrackId{t})) {
      const Slice& s = b.slices()[row];
      if (b.text(s.name) != name) continue;
      if (key.empty() ? seen++ == before
                      : s.command && b.command(s.command).key == key && s.occurrence == wanted.occurrence)
        return SliceId{row + 1};
    }
  }
  return std::nullopt;
}

}  // namespace stave::gui
