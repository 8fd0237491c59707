// What a regular expression finds in runs.
#pragma once

#include <QRegularExpression>

#include <utility>
#include <vector>

#include "gui/run.h"
#include "gui/view/scene.h"

namespace stave::gui {

struct SearchedRun {
  RunPtr run;
  std::size_t position = 0;  // in the scene
  Picoseconds shift{};
};

bool finds(const QRegularExpression& wanted, const Problem& problem);  // in its text or its code

// Slices by their start on screen: of a name (a kernel's full one, too), a command, a track, or on a line of the
// schedule that one of `problems` names which is found. A command is found where it runs, not at
// each call of the host for it. Empty if it is cancelled.
std::vector<SliceRef> search_runs(const std::vector<SearchedRun>& runs, const QRegularExpression& wanted,
                                  const Problems& problems, const Progress& progress);

}  // namespace stave::gui
