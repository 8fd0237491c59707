// A session as the timeline draws it.
#pragma once

#include "gui/session.h"
#include "gui/view/scene.h"

namespace stave::gui {

struct ViewChoices {
  ColourBy colour_by = ColourBy::Family;
  Arrangement arrangement = Arrangement::Interleaved;
  bool differences = true;  // a difference track below each track of the chosen run, once two are compared
  bool critical_path = false;
  bool arrows = true;
  bool dark = false;
};

// `before`: the scene until now, whose rows a person folded, pinned, hid and moved.
Scene scene_of(const Session& session, const ViewChoices& choices, const Scene& before);
// What a change of the selection changes.
void show_selection(const Session& session, const ViewChoices& choices, Scene& scene);
void show_marks(const Session& session, Scene& scene);

// The tracks that a range was drawn over.
std::vector<std::pair<std::size_t, TrackId>> tracks_of(const Scene& scene, const RangeSelection& range);

// Rows as text to be remembered, and back for carry_rows().
QByteArray remembered_rows(const std::vector<Row>& rows);
std::vector<Row> rows_remembered(const QByteArray& json);
QByteArray remembered_bookmarks(const std::vector<Bookmark>& bookmarks);
std::vector<Bookmark> bookmarks_remembered(const QByteArray& json);

// One line about a slice: "gemm#1, 349.2 us, at 12.0 us, rank 0 main".
QString line_about(const Session& session, SliceRef slice);

}  // namespace stave::gui
