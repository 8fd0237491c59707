#include "gui/start_page.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace stave::gui {

StartPage::StartPage(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->addStretch(2);
  auto* title = new QLabel("<span style='font-size:17pt; font-weight:600'>Stave</span>");
  title->setAlignment(Qt::AlignCenter);
  auto* words = new QLabel(
      "Open a run file, a trace of the PyTorch profiler, Nsight Systems, Perfetto or JAX, "
      "or a schedule (.stave), which is checked and predicted at once. Or drop files here.");
  words->setAlignment(Qt::AlignCenter);
  words->setWordWrap(true);
  column->addWidget(title);
  column->addWidget(words);
  column->addSpacing(10);
  auto* open = new QPushButton("Open...");
  auto* tour = new QPushButton("Take the tour (a minute)");
  open->setDefault(true);
  for (QPushButton* button : {open, tour}) {
    button->setMinimumWidth(220);
    column->addWidget(button, 0, Qt::AlignHCenter);
  }
  column->addSpacing(10);
  recent_ = new QVBoxLayout;
  column->addLayout(recent_);
  column->addStretch(3);
  connect(open, &QPushButton::clicked, this, &StartPage::open_asked);
  connect(tour, &QPushButton::clicked, this, &StartPage::tour_asked);
}

void StartPage::set_recent(const QStringList& files) {
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QString& file : files) {
    auto* button = new QPushButton(QFileInfo(file).fileName());
    button->setFlat(true);
    button->setCursor(Qt::PointingHandCursor);
    button->setToolTip(file);
    connect(button, &QPushButton::clicked, this, [this, file] { emit file_asked(file); });
    recent_->addWidget(button, 0, Qt::AlignHCenter);
  }
}

}  // namespace stave::gui
