// The window's bars: tools, status, the message over the timeline, the tour.
#include <QComboBox>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

#include <algorithm>

#include "gui/main_window.h"
#include "gui/tour.h"
#include "gui/words.h"

namespace stave::gui {

void MainWindow::make_bars() {
  auto* tools = addToolBar("Tools");
  tools->setObjectName("tools");
  tools->setMovable(false);
  chosen_ = new QComboBox;
  partner_ = new QComboBox;
  align_ = new QComboBox;
  for (QComboBox* box : {chosen_, partner_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    // Names get what a wide window has; a narrow one keeps the search field.
    box->setMinimumContentsLength(13);
    box->setMaximumWidth(240);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  }
  chosen_->setToolTip("The run that panels speak of");
  partner_->setToolTip("The run that it is compared with");
  align_->addItems({"aligned at the first work", "aligned by step", "aligned at a command", "aligned at step"});
  align_->setToolTip(
      "How runs are put on one time axis; by step: the steps that are compared; "
      "a command: the selected slice");
  tools->addWidget(new QLabel("Run "));
  tools->addWidget(chosen_);
  tools->addWidget(new QLabel(" against "));
  tools->addWidget(partner_);
  tools->addWidget(align_);
  step_ = new QSpinBox;
  step_->setToolTip("The step that is put on one line in all runs");
  step_->setKeyboardTracking(false);
  step_shown_ = tools->addWidget(step_);
  auto* stretch = new QWidget;
  stretch->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  tools->addWidget(stretch);
  search_ = new QLineEdit;
  search_->setPlaceholderText("Search (regex)");
  search_->setClearButtonEnabled(true);
  search_->setMinimumWidth(140);
  search_->setMaximumWidth(250);
  search_->setToolTip("In names of slices and kernels, commands, tracks and problems; Return: next hit");
  hits_ = new QLabel;
  hits_->setMinimumWidth(70);
  tools->addWidget(search_);
  tools->addWidget(hits_);
  connect(chosen_, &QComboBox::currentIndexChanged, this, [this](int at) {
    if (!updating_ && at >= 0) session_.choose(static_cast<std::size_t>(at));
  });
  connect(partner_, &QComboBox::currentIndexChanged, this, [this](int) {
    if (updating_) return;
    const QVariant at = partner_->currentData();
    session_.set_partner(at.isValid() ? std::optional(static_cast<std::size_t>(at.toULongLong())) : std::nullopt);
  });
  connect(align_, &QComboBox::currentIndexChanged, this, [this](int at) {
    if (!updating_) session_.align(static_cast<AlignBy>(at));
    update_tools();
  });
  connect(step_, &QSpinBox::valueChanged, this, [this](int step) {
    if (!updating_) session_.align_at_step(static_cast<std::uint32_t>(step));
  });
  // While letters still come, nobody waits for their hits.
  search_timer_.setSingleShot(true);
  connect(&search_timer_, &QTimer::timeout, this, [this] { session_.search(search_->text()); });
  connect(search_, &QLineEdit::textChanged, this, [this] { search_timer_.start(120); });
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    if (search_timer_.isActive() || session_.search_pattern() != search_->text()) {
      search_timer_.stop();
      session_.search(search_->text());
    }
    session_.next_mark(true);
  });

  hovered_ = new QLabel;
  hovered_->setTextFormat(Qt::PlainText);
  // However long a name is, it must not widen the window.
  hovered_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  busy_ = new QLabel;
  cancel_ = new QToolButton;
  cancel_->setText("Cancel");
  cancel_->setAutoRaise(true);
  cancel_->setToolTip("Stop what is being done in the background");
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(hovered_, 1);
  statusBar()->addPermanentWidget(busy_);
  statusBar()->addPermanentWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, &session_, &Session::cancel_all);
  busy_timer_.setInterval(100);
  connect(&busy_timer_, &QTimer::timeout, this, &MainWindow::update_busy);
}

void MainWindow::show_tour_stop(std::size_t at) {
  const std::span<const TourStop> stops = tour();
  if (at >= stops.size()) return banner_->hide();
  tour_at_ = at;
  stops[at].show(*this);
  show_banner(QString("%1 of %2.  %3").arg(at + 1).arg(stops.size()).arg(stops[at].words));
  tour_back_->show();
  tour_back_->setEnabled(at > 0);
  tour_next_->show();
  tour_next_->setText(at + 1 < stops.size() ? "Next" : "Done");
  tour_next_->setFocus();
}

void MainWindow::update_tools() {
  updating_ = true;
  chosen_->clear();
  partner_->clear();
  partner_->addItem("nothing");
  for (std::size_t r = 0; r < session_.runs().size(); ++r) {
    const Session::Entry& entry = session_.runs()[r];
    const QString title = (entry.ghost ? "before: " : "") + words(entry.run->title);
    chosen_->addItem(title);
    chosen_->setItemData(chosen_->count() - 1, words(entry.run->file), Qt::ToolTipRole);
    if (session_.chosen() != r) partner_->addItem(title, static_cast<qulonglong>(r));
  }
  if (session_.runs().empty()) chosen_->addItem("none");
  if (session_.chosen()) chosen_->setCurrentIndex(static_cast<int>(*session_.chosen()));
  partner_->setCurrentIndex(
      session_.partner() ? std::max(0, partner_->findData(static_cast<qulonglong>(*session_.partner()))) : 0);
  align_->setCurrentIndex(static_cast<int>(session_.align_by()));
  const bool several = session_.runs().size() > 1;
  const auto steps = session_.steps();
  step_shown_->setVisible(several && steps && session_.align_by() == AlignBy::StepNumber);
  if (steps) {
    step_->setRange(static_cast<int>(steps->first), static_cast<int>(steps->second));
    step_->setValue(static_cast<int>(session_.align_step()));
  }
  partner_->setEnabled(several);
  align_->setEnabled(several);
  chosen_->setEnabled(!session_.runs().empty());
  search_->setEnabled(!session_.runs().empty());
  updating_ = false;
}

void MainWindow::update_busy() {
  const QString text = session_.jobs().progress();
  busy_->setText(text.isEmpty() ? "" : text + "...");
  cancel_->setVisible(!text.isEmpty());
  if (text.isEmpty()) {
    busy_timer_.stop();
  } else if (!busy_timer_.isActive()) {
    busy_timer_.start();
  }
}

void MainWindow::say(const QString& text) { statusBar()->showMessage(text, 6000); }

void MainWindow::show_banner(const QString& text) {
  for (QPushButton* button : {tour_back_, tour_next_}) button->hide();
  banner_text_->setText(text);
  banner_->show();
}

}  // namespace stave::gui
