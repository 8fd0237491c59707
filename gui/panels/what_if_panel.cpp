#include "gui/panels/what_if_panel.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

const Edit* edit_of(const Draft& draft, const std::string& field) { return find(draft.edits, MachineEdit{field}); }

QString change_words(Picoseconds before, Picoseconds after) {
  QString text = QString("<b>%1</b>").arg(words(after));
  if (before == after || before.count() == 0) return text;
  const double times = static_cast<double>(after.count()) / static_cast<double>(before.count());
  if (times >= 10)
    return text + QString(" <span style='color:#d55e00'>× %1</span> <span style='color:gray'>was %2</span>")
                      .arg(times, 0, 'f', 1)
                      .arg(words(before));
  const double pct = 100 * static_cast<double>((after - before).count()) / static_cast<double>(before.count());
  return text + QString(" <span style='color:%1'>%2%3 %</span> <span style='color:gray'>was %4</span>")
                    .arg(after < before ? "#009e73" : "#d55e00", pct > 0 ? "+" : "")
                    .arg(pct, 0, 'f', 1)
                    .arg(words(before));
}

Picoseconds exposed_of(const Outcome& outcome) {
  const RankUse* worst = outcome.run ? outcome.run->report.worst() : nullptr;
  return worst ? worst->exposed_communication : Picoseconds{};
}

}  // namespace

WhatIfPanel::WhatIfPanel(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), pages_(new QStackedWidget(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(pages_);

  auto* empty = new QWidget;
  auto* empty_column = new QVBoxLayout(empty);
  nothing_ = new QLabel;
  nothing_->setAlignment(Qt::AlignCenter);
  nothing_->setWordWrap(true);
  adopt_ = new QPushButton("Predict this run's schedule");
  empty_column->addStretch();
  empty_column->addWidget(nothing_);
  empty_column->addWidget(adopt_, 0, Qt::AlignCenter);
  empty_column->addStretch();
  pages_->addWidget(empty);
  connect(adopt_, &QPushButton::clicked, &session_, &Session::adopt_schedule_of_run);

  auto* page = new QWidget;
  auto* page_column = new QVBoxLayout(page);
  page_column->setContentsMargins(10, 8, 10, 8);
  result_ = new QLabel;
  result_->setWordWrap(true);
  result_->setTextFormat(Qt::RichText);
  page_column->addWidget(result_);
  auto* buttons = new QGridLayout;
  undo_ = new QPushButton("Undo");
  redo_ = new QPushButton("Redo");
  reset_ = new QPushButton("Reset");
  keep_ = new QPushButton("Keep as base");
  reset_->setToolTip("Back to the machine and the parameters as their files have them");
  keep_->setToolTip("What is predicted now becomes what changes are held against");
  int at = 0;
  for (QPushButton* button : {undo_, redo_, reset_, keep_}) buttons->addWidget(button, 0, at++);
  page_column->addLayout(buttons);
  connect(undo_, &QPushButton::clicked, &session_, &Session::undo);
  connect(redo_, &QPushButton::clicked, &session_, &Session::redo);
  connect(keep_, &QPushButton::clicked, &session_, &Session::rebase);
  connect(reset_, &QPushButton::clicked, this, [this] {
    Draft draft = session_.draft();
    draft.edits.clear();
    session_.change(std::move(draft));
  });

  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inner = new QWidget;
  auto* form = new QFormLayout(inner);
  form->setContentsMargins(0, 0, 6, 0);
  form->setVerticalSpacing(5);
  build_machine(form);
  params_ = new QFormLayout;
  params_->setVerticalSpacing(5);
  form->addRow(params_);
  form->addRow(what_if_heading("Move a command"));
  moved_command_ = new QLabel;
  moved_command_->setWordWrap(true);
  form->addRow(moved_command_);
  streams_ = new QComboBox;
  move_ = new QPushButton("Move");
  auto* move_line = new QHBoxLayout;
  move_line->addWidget(streams_, 1);
  move_line->addWidget(move_);
  form->addRow("To stream", move_line);
  for (const char* kind : {"communication", "computation"})
    for (int n = 0; n < 4; ++n) streams_->addItem(QString("%1 %2").arg(kind).arg(n));
  connect(move_, &QPushButton::clicked, this, [this] {
    const std::optional<SliceRef> current = session_.current();
    if (!current) return;
    const Timeline& timeline = *session_.run(current->run)->timeline;
    const TimelineCommandId command = timeline.slice(current->slice).command;
    if (!command) return;
    const int stream = streams_->currentIndex();
    session_.edit(StreamEdit{timeline.command(command).key,
                             {stream < 4 ? StreamRef::Kind::Communication : StreamRef::Kind::Computation,
                              static_cast<std::uint32_t>(stream % 4)}});
  });
  edits_ = new QLabel;
  edits_->setWordWrap(true);
  edits_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  form->addRow(edits_);
  scroll->setWidget(inner);
  page_column->addWidget(scroll, 1);
  pages_->addWidget(page);

  connect(&session_, &Session::draft_changed, this, &WhatIfPanel::show_draft);
  connect(&session_, &Session::runs_changed, this, &WhatIfPanel::show_draft);
  connect(&session_, &Session::outcome_changed, this, &WhatIfPanel::show_outcome);
  connect(&session_, &Session::selection_changed, this, &WhatIfPanel::show_move);
  show_draft();
  show_outcome();
}

void WhatIfPanel::build_machine(QFormLayout* form) {
  form->addRow(what_if_heading("Machine"));
  machine_ = new QComboBox;
  for (const MachineListing& listing : list_machines()) machine_->addItem(words(listing.name));
  form->addRow("Machine", machine_);
  mode_ = new QComboBox;
  mode_->addItem("eager: call by call", words(name_of(Mode::Eager)));
  mode_->addItem("captured: one CUDA graph", words(name_of(Mode::Captured)));
  mode_->addItem("captured, serial", words(name_of(Mode::CapturedSerial)));
  form->addRow("Launching", mode_);
  clock_ = new QComboBox;
  clock_->addItem("full: after a pause");
  clock_->addItem("sustained: at the power limit");
  clock_->setToolTip("A device that draws more than its limit lowers its clock after some tens of milliseconds");
  form->addRow("Clock", clock_);
  connect(clock_, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (showing_) return;
    Draft draft = session_.draft();
    draft.sustained = index == 1;
    session_.change(std::move(draft));
  });
  connect(machine_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
    if (showing_) return;
    Draft draft = session_.draft();
    draft.machine = name.toStdString();
    session_.change(std::move(draft));
  });
  connect(mode_, &QComboBox::currentIndexChanged, this, [this] {
    if (showing_) return;
    Draft draft = session_.draft();
    draft.mode = *mode_named(mode_->currentData().toString().toStdString());
    session_.change(std::move(draft));
  });
  const auto add = [&](const QString& label, Knob::Spec spec, const QString& tip) {
    auto* knob = new Knob(std::move(spec), this);
    knob->setToolTip(tip);
    knobs_.push_back(knob);
    form->addRow(label, knob);
    connect(knob, &Knob::changed, this, [this, knob](double value, bool merge) {
      const std::string& field = knob->spec().field;
      session_.edit(MachineEdit{field, value, field.find('*') != std::string::npos}, merge);
    });
  };
  add("Link bandwidth", {"link.device.bandwidth_bytes_per_s", 1e9, "GB/s"},
      "Between two devices of a node, one direction");
  add("Link latency", {"link.device.latency_ps", 1e6, "us"}, "The fixed part of a transfer between two devices");
  add("Memory bandwidth", {"device.memory_bandwidth_bytes_per_s", 1e9, "GB/s"},
      "Reads plus writes that a copy reaches");
  add("SMs", {"device.sm_count", 1, "", true}, "Streaming multiprocessors of a device");
  add("Launch cost", {"host.*launch_ps", 1}, "What the host pays to launch kernels, products and collectives");
  add("Host speed", {"host.*", 1, "", false, true}, "All that the host does, calls and waits");
  add("Graph launch", {"graph.*", 1}, "What a CUDA graph costs beside its nodes' own work");
}

Knob* WhatIfPanel::knob(std::string_view field) const {
  const auto at = std::ranges::find_if(knobs_, [&](const Knob* knob) { return knob->spec().field == field; });
  return at == knobs_.end() ? nullptr : *at;
}

double WhatIfPanel::base_of(const Knob& knob) const {
  const auto& machine = session_.outcome().base_machine;
  if (knob.spec().field.find('*') != std::string::npos || !machine) return 1;
  return number_of(*machine, knob.spec().field).value_or(1);
}

void WhatIfPanel::show_draft() {
  showing_ = true;
  pages_->setCurrentIndex(session_.has_schedule() ? 1 : 0);
  const RunPtr run = session_.chosen_run();
  const bool of_run = run && !run->info.schedule_text.empty();
  nothing_->setText(of_run ? "This run has its schedule with it: predict it, and see what another machine would do."
                    : run  ? "This run does not say which schedule it is of. Open the .stave file to ask what if."
                           : "Open a schedule (.stave) to ask what if: another machine, other parameters.");
  adopt_->setVisible(of_run);
  if (session_.has_schedule()) {
    const Draft& draft = session_.draft();
    if (machine_->findText(words(draft.machine)) < 0) machine_->addItem(words(draft.machine));
    machine_->setCurrentText(words(draft.machine));
    mode_->setCurrentIndex(mode_->findData(words(name_of(draft.mode))));
    const auto& base_machine = session_.outcome().base_machine;
    clock_->setEnabled(!base_machine || base_machine->energy);
    clock_->setCurrentIndex(draft.sustained && clock_->isEnabled() ? 1 : 0);
    for (Knob* knob : knobs_) {
      const double base = base_of(*knob);
      const Edit* edit = edit_of(draft, knob->spec().field);
      double value = base;
      if (edit) value = std::get<MachineEdit>(*edit).value * (std::get<MachineEdit>(*edit).factor ? base : 1);
      knob->show_value(base, value);
    }
    show_params();
    edits_->setText(draft.edits.empty() ? ""
                                        : "<span style='color:gray'>Changed: " +
                                              words(to_text(draft.edits)).toHtmlEscaped() + "</span>");
    undo_->setEnabled(session_.can_undo());
    redo_->setEnabled(session_.can_redo());
    reset_->setEnabled(!draft.edits.empty());
  }
  show_move();
  showing_ = false;
}

void WhatIfPanel::show_move() {
  const std::optional<SliceRef> current = session_.current();
  const RunPtr run = current ? session_.run(current->run) : nullptr;
  const TimelineCommandId command = run ? run->timeline->slice(current->slice).command : TimelineCommandId{};
  moved_command_->setText(command ? words(run->timeline->command(command).key)
                                  : QString("<span style='color:gray'>Select a slice of an async body.</span>"));
  move_->setEnabled(static_cast<bool>(command));
}

void WhatIfPanel::show_outcome() {
  const Outcome& outcome = session_.outcome();
  const Outcome& base = session_.baseline();
  if (outcome.run && outcome.draft == session_.draft()) {
    QString text = "Makespan " + change_words(base.summary.makespan, outcome.summary.makespan);
    text += "<br>Exposed communication " + change_words(exposed_of(base), exposed_of(outcome));
    if (outcome.clock < 1) text += QString("<br>Clock <b>%1 %</b> of full").arg(outcome.clock * 100, 0, 'f', 1);
    if (!measured_remark(outcome.situation->machine).empty())
      text += "<br><span style='color:gray'>" + words(outcome.situation->machine.name) + ": " +
              words(measured_remark(outcome.situation->machine)) + "</span>";
    result_->setText(text);
  } else if (!outcome.problems.empty()) {
    result_->setText("<span style='color:#d55e00'>" + words(outcome.problems[0].message).toHtmlEscaped() + "</span>");
  } else {
    result_->setText("Predicting...");
  }
  keep_->setEnabled(outcome.run && base.run != outcome.run);
  // The base values come with the machine.
  show_draft();
}

QWidget* make_what_if_panel(Session& session, QWidget* parent) { return new WhatIfPanel(session, parent); }

}  // namespace stave::gui
