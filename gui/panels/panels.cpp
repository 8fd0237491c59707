#include "gui/panels/panels.h"

#include "gui/panels/tables.h"

namespace stave::gui {
namespace {

template <auto fill, auto... when>
QWidget* make_table_panel(Session& session, QWidget* parent) {
  auto* panel = new TablePanel(session, fill, parent);
  (panel->follow(when), ...);
  return panel;
}

constexpr Panel table[] = {
    {"schedule", "Schedule", "The schedule's text, with what each line takes", Qt::RightDockWidgetArea,
     make_schedule_panel},
    {"what-if", "What if", "Another machine, other parameters: what would change", Qt::RightDockWidgetArea,
     make_what_if_panel},
    {"overview", "Overview", "Where the time of each rank goes", Qt::BottomDockWidgetArea,
     make_table_panel<overview_table, &Session::runs_changed>},
    {"details", "Details", "All that is known about the selected slice", Qt::BottomDockWidgetArea,
     make_table_panel<details_of, &Session::selection_changed, &Session::runs_changed, &Session::compared_changed,
                      &Session::study_changed>},
    {"statistics", "Statistics", "What the selected slices, or a selected stretch, add up to", Qt::BottomDockWidgetArea,
     make_table_panel<statistics_table, &Session::statistics_changed>},
    {"difference", "Difference", "Why one run takes longer than another", Qt::BottomDockWidgetArea,
     make_table_panel<difference_table, &Session::compared_changed, &Session::runs_changed>},
    {"collectives", "Collectives", "Who comes late to which collective, and why", Qt::BottomDockWidgetArea,
     make_table_panel<collectives_table, &Session::runs_changed, &Session::study_changed>},
    {"critical-path", "Critical path", "The chain of work that the end hangs on", Qt::BottomDockWidgetArea,
     make_table_panel<critical_path_table, &Session::runs_changed, &Session::study_changed>},
    {"problems", "Problems", "What the checker, the importer and the predictor complain about",
     Qt::BottomDockWidgetArea, make_table_panel<problems_table, &Session::problems_changed, &Session::marks_changed>},
    {"bookmarks", "Bookmarks", "Places to come back to", Qt::BottomDockWidgetArea, make_bookmarks_panel},
    {"output", "Output", "What a run on the CPU computed, and what an import read", Qt::BottomDockWidgetArea,
     make_output_panel},
};

}  // namespace

std::span<const Panel> panels() { return table; }

}  // namespace stave::gui
