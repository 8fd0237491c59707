// What the panels that are tables show of a session.
#pragma once

#include "gui/panels/table_panel.h"

namespace stave::gui {

TablePanel::Content overview_table(const Session& session);     // where the time of each rank goes
TablePanel::Content details_of(const Session& session);         // of the current slice
TablePanel::Content statistics_table(const Session& session);   // of the selection
TablePanel::Content difference_table(const Session& session);   // of the two runs that are compared
TablePanel::Content collectives_table(const Session& session);  // x ranks: how late each arrived
TablePanel::Content critical_path_table(const Session& session);
TablePanel::Content problems_table(const Session& session);

QWidget* make_schedule_panel(Session& session, QWidget* parent);
QWidget* make_what_if_panel(Session& session, QWidget* parent);
QWidget* make_bookmarks_panel(Session& session, QWidget* parent);
QWidget* make_output_panel(Session& session, QWidget* parent);

}  // namespace stave::gui
