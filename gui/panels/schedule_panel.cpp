#include "gui/panels/schedule_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/schedule_editor.h"
#include "gui/words.h"

namespace stave::gui {

SchedulePanel::SchedulePanel(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      verdict_(new QLabel(this)),
      adopt_(new QPushButton("Edit and predict", this)),
      editor_(new ScheduleEditor(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(10, 5, 6, 5);
  verdict_->setWordWrap(true);
  top->addWidget(verdict_, 1);
  top->addWidget(adopt_);
  column->addLayout(top);
  column->addWidget(editor_, 1);
  adopt_->setToolTip("Take this run's schedule as the one that is edited, and predict it");
  connect(adopt_, &QPushButton::clicked, &session_, &Session::adopt_schedule_of_run);
  connect(editor_, &QPlainTextEdit::textChanged, this, [this] {
    if (filling_ || !session_.has_schedule()) return;
    Draft draft = session_.draft();
    draft.text = editor_->toPlainText().toStdString();
    session_.change(std::move(draft));
  });
  connect(editor_, &ScheduleEditor::line_chosen, &session_, &Session::select_line);
  connect(&session_, &Session::draft_changed, this, &SchedulePanel::show_text);
  connect(&session_, &Session::runs_changed, this, &SchedulePanel::show_text);
  connect(&session_, &Session::runs_changed, this, &SchedulePanel::show_costs);
  connect(&session_, &Session::problems_changed, this, &SchedulePanel::show_problems);
  connect(&session_, &Session::outcome_changed, this, &SchedulePanel::show_verdict);
  connect(&session_, &Session::checked_changed, this, &SchedulePanel::show_verdict);
  connect(&session_, &Session::selection_changed, this, [this] { editor_->set_lines(session_.selected_lines()); });
  show_text();
}

void SchedulePanel::show_text() {
  const RunPtr run = session_.chosen_run();
  const bool own = session_.has_schedule();
  const std::string text = own ? session_.draft().text : run ? run->info.schedule_text : std::string();
  if (const QString shown = words(text); editor_->toPlainText() != shown) {
    filling_ = true;
    const int scroll = editor_->verticalScrollBar()->value(), position = editor_->textCursor().position();
    editor_->setPlainText(shown);
    QTextCursor cursor = editor_->textCursor();
    cursor.setPosition(std::min(position, static_cast<int>(shown.size())));
    editor_->setTextCursor(cursor);
    editor_->verticalScrollBar()->setValue(scroll);
    filling_ = false;
  }
  editor_->setReadOnly(!own);
  adopt_->setVisible(!own && !text.empty());
  show_verdict();
}

void SchedulePanel::show_costs() {
  const RunPtr run = session_.chosen_run();
  // A run of another text has its times at other lines.
  const bool of_text = run && (!session_.has_schedule() || run->info.schedule_text == session_.draft().text ||
                               run->origin == Origin::Predicted);
  editor_->set_costs(of_text ? run->lines : std::map<std::uint32_t, LineCost>{});
}

void SchedulePanel::show_problems() {
  Problems here;
  if (session_.has_schedule())
    for (const Problem& problem : session_.problems())
      if (problem.place.line > 0 && problem.place.file == session_.schedule_file()) here.push_back(problem);
  editor_->set_problems(std::move(here));
  show_verdict();
}

void SchedulePanel::show_verdict() {
  if (!session_.has_schedule()) {
    const RunPtr run = session_.chosen_run();
    verdict_->setText(!run                              ? ""
                      : run->info.schedule_text.empty() ? "This run does not say which schedule it is of."
                                                        : "The schedule of " + words(run->title) + ", to be read");
    return;
  }
  QString text = words(file_name(session_.schedule_file())) + (session_.unsaved() ? " *" : "") + ": ";
  const Outcome& outcome = session_.outcome();
  const auto errors = std::ranges::count_if(session_.problems(), [&](const Problem& problem) {
    return problem.severity == Severity::Error && problem.place.file == session_.schedule_file();
  });
  if (errors > 0) {
    text += QString("<b style='color:#d55e00'>%1 error%2</b>").arg(errors).arg(errors == 1 ? "" : "s");
  } else if (session_.checked()) {
    const std::int64_t warnings = session_.checked()->warnings;
    text += warnings > 0 ? QString("%1 warning%2").arg(warnings).arg(warnings == 1 ? "" : "s") : QString("clean");
  } else {
    text += "checking";
  }
  if (outcome.run && errors == 0) text += ", " + words(outcome.summary.makespan);
  verdict_->setText(text);
}

QWidget* make_schedule_panel(Session& session, QWidget* parent) { return new SchedulePanel(session, parent); }

}  // namespace stave::gui
