#include "gui/scene_of_session.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

#include "gui/words.h"

namespace stave::gui {
namespace {

// Arrows of more slices than this only darken the picture.
constexpr std::size_t max_slices_with_arrows = 64;

}  // namespace

Scene scene_of(const Session& session, const ViewChoices& choices, const Scene& before) {
  Scene scene;
  scene.dark = choices.dark;
  scene.chosen = session.chosen().value_or(0);
  const std::shared_ptr<const Compared> compared = session.compared();
  for (std::size_t r = 0; r < session.runs().size(); ++r) {
    const Session::Entry& entry = session.runs()[r];
    RunInView run;
    run.timeline = entry.run->timeline;
    run.index = entry.run->index;
    run.lod = entry.run->lod;
    run.title = entry.run->title;
    // The header is narrow; the tool bar has the whole names.
    if (entry.ghost) run.title = "before";
    if (entry.live && session.runs().back().ghost) run.title = "what if";
    if (entry.live && !session.runs().back().ghost && session.runs().size() > 1) run.title = "predicted";
    // Track by track the name would stand in every row.
    const bool named = choices.arrangement == Arrangement::Stacked || entry.ghost || entry.live;
    const auto lettered = [&](const char* letter) { return named ? letter + ("  " + run.title) : std::string(letter); };
    if (compared && session.chosen() == r) run.title = lettered("B");
    if (compared && session.partner() == r) run.title = lettered("A");
    run.shift = session.shift(r);
    run.ghost = entry.ghost;
    if (compared && entry.run == compared->run_a) run.deltas = compared->deltas_a;
    if (compared && entry.run == compared->run_b) run.deltas = compared->deltas_b;
    scene.runs.push_back(std::move(run));
  }
  scene.rows = rows_of(scene.runs, choices.arrangement);
  const bool differences = choices.differences && compared && session.chosen();
  if (differences) scene.rows = with_difference_rows(scene.rows, scene.runs, *session.chosen());
  carry_rows(before.rows, scene.rows);
  // Without deltas that colour says nothing.
  scene.colour_by = choices.colour_by == ColourBy::Delta && !compared ? ColourBy::Family : choices.colour_by;
  if (choices.critical_path)
    if (const RunPtr run = session.chosen_run()) scene.paths.push_back({*session.chosen(), run->report.critical_path});
  scene.bookmarks = session.bookmarks();
  scene.measured = before.measured;
  show_marks(session, scene);
  show_selection(session, choices, scene);
  return scene;
}

void show_selection(const Session& session, const ViewChoices& choices, Scene& scene) {
  scene.selection = session.selection();
  scene.range = session.range();
  scene.partners.clear();
  if (scene.hovered && scene.hovered->run < session.runs().size())
    if (const auto partner = session.partner_of(*scene.hovered)) scene.partners.push_back(*partner);
  if (const auto current = session.current())
    if (const auto partner = session.partner_of(*current)) scene.partners.push_back(*partner);
  scene.arrows.clear();
  if (choices.arrows && scene.selection.size() <= max_slices_with_arrows)
    scene.arrows = arrows_of(scene, scene.selection);
}

void show_marks(const Session& session, Scene& scene) {
  scene.marks = session.marks();
  scene.mark = session.mark();
}

std::vector<std::pair<std::size_t, TrackId>> tracks_of(const Scene& scene, const RangeSelection& range) {
  std::vector<std::pair<std::size_t, TrackId>> tracks;
  const auto take = [&](std::size_t row) {
    const Row& r = scene.rows[row];
    if (r.kind == Row::Kind::Track && !r.hidden && r.run < scene.runs.size() && !scene.runs[r.run].ghost)
      tracks.emplace_back(r.run, r.track);
  };
  if (range.rows.empty()) {
    for (std::size_t row = 0; row < scene.rows.size(); ++row) take(row);
  } else {
    for (const std::size_t row : range.rows) {
      if (row >= scene.rows.size()) continue;
      // A folded header stands for what is below it.
      const std::size_t end = scene.rows[row].header() && scene.rows[row].folded ? row_end(scene.rows, row) : row + 1;
      for (std::size_t inner = row; inner < end; ++inner) take(inner);
    }
  }
  std::ranges::sort(tracks);
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  return tracks;
}

QByteArray remembered_rows(const std::vector<Row>& rows) {
  QJsonArray list;
  for (const Row& row : rows) {
    QJsonObject one{{"key", words(row.key)},
                    {"run", static_cast<int>(row.run)},
                    {"kind", static_cast<int>(row.kind)},
                    {"depth", row.depth}};
    if (row.folded) one["folded"] = true;
    if (row.hidden) one["hidden"] = true;
    if (row.pinned) one["pinned"] = true;
    if (row.height > 0) one["height"] = row.height;
    list.append(one);
  }
  return QJsonDocument(list).toJson(QJsonDocument::Compact);
}

std::vector<Row> rows_remembered(const QByteArray& json) {
  std::vector<Row> rows;
  for (const QJsonValue value : QJsonDocument::fromJson(json).array()) {
    const QJsonObject one = value.toObject();
    Row row;
    row.key = one["key"].toString().toStdString();
    row.run = static_cast<std::size_t>(std::max(0, one["run"].toInt()));
    row.kind = static_cast<Row::Kind>(std::clamp(one["kind"].toInt(), 0, 4));
    row.depth = static_cast<std::uint8_t>(std::clamp(one["depth"].toInt(), 0, 255));
    row.folded = one["folded"].toBool();
    row.hidden = one["hidden"].toBool();
    row.pinned = one["pinned"].toBool();
    row.height = static_cast<std::uint16_t>(std::clamp(one["height"].toInt(), 0, 400));
    rows.push_back(std::move(row));
  }
  return rows;
}

QByteArray remembered_bookmarks(const std::vector<Bookmark>& bookmarks) {
  QJsonArray list;
  // Text: a JSON number would round times beyond two hours.
  for (const Bookmark& bookmark : bookmarks)
    list.append(QJsonObject{{"time_ps", QString::number(bookmark.time.count())}, {"text", words(bookmark.text)}});
  return QJsonDocument(list).toJson(QJsonDocument::Compact);
}

std::vector<Bookmark> bookmarks_remembered(const QByteArray& json) {
  std::vector<Bookmark> bookmarks;
  for (const QJsonValue value : QJsonDocument::fromJson(json).array())
    bookmarks.push_back(
        {Time{value.toObject()["time_ps"].toString().toLongLong()}, value.toObject()["text"].toString().toStdString()});
  return bookmarks;
}

QString line_about(const Session& session, SliceRef ref) {
  const RunPtr run = session.run(ref.run);
  if (!run || !ref.slice || ref.slice.row() >= run->timeline->slices().size()) return {};
  const Slice& slice = run->timeline->slice(ref.slice);
  const Track& track = run->timeline->track(slice.track);
  QString text = QString("%1   %2   at %3   rank %4, %5")
                     .arg(words(title_of(*run->timeline, ref.slice)), words(slice.duration),
                          words(slice.start + session.shift(ref.run)))
                     .arg(track.rank)
                     .arg(words(track.name));
  if (const auto partner = session.partner_of(ref)) {
    const Slice& there = session.run(partner->run)->timeline->slice(partner->slice);
    text +=
        "   " + signed_words(slice.duration - there.duration) + " against " + words(session.run(partner->run)->title);
  }
  return text;
}

}  // namespace stave::gui
