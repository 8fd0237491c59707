#include "gui/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <vector>

namespace stave::gui {

QString plain_text(const QAction& action) { return QString(action.text()).remove('&').remove("..."); }

int fit_of(const QString& typed, const QString& text) {
  if (typed.isEmpty()) return 0;
  if (const qsizetype at = text.indexOf(typed, 0, Qt::CaseInsensitive); at >= 0)
    return 1000 - static_cast<int>(at) + (at == 0 || text[at - 1] == ' ' ? 500 : 0);
  int fit = 0;
  qsizetype at = 0;
  for (const QChar letter : typed) {
    if (letter.isSpace()) continue;
    const qsizetype found = text.indexOf(letter, at, Qt::CaseInsensitive);
    if (found < 0) return -1;
    fit += found == at ? 3 : found > 0 && text[found - 1] == ' ' ? 2 : 0;
    at = found + 1;
  }
  return fit;
}

CommandPalette::CommandPalette(const QList<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup | Qt::FramelessWindowHint),
      actions_(actions),
      field_(new QLineEdit(this)),
      list_(new QListWidget(this)) {
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 6, 6, 6);
  column->setSpacing(4);
  field_->setPlaceholderText("Type what you want to do");
  column->addWidget(field_);
  column->addWidget(list_);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(field_, &QLineEdit::returnPressed, this, &CommandPalette::run);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
  resize(520, 380);
  if (parent) move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 70)));
  filter("");
  field_->setFocus();
}

void CommandPalette::filter(const QString& text) {
  std::vector<std::pair<int, QAction*>> found;
  for (QAction* action : actions_) {
    if (!action->isEnabled() || action->isSeparator() || action->text().isEmpty()) continue;
    const int fit = fit_of(text, plain_text(*action));
    if (fit >= 0) found.emplace_back(fit, action);
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  list_->clear();
  for (const auto& [fit, action] : found) {
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(plain_text(*action) + (keys.isEmpty() ? "" : "    [" + keys + "]"), list_);
    item->setData(Qt::UserRole, QVariant::fromValue(static_cast<QObject*>(action)));
    item->setToolTip(action->toolTip());
  }
  list_->setCurrentRow(0);
}

void CommandPalette::run() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item) return;
  auto* action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
  close();
  // Once this is gone: the action may open a window of its own.
  QTimer::singleShot(0, action, &QAction::trigger);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == field_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int step = key->key() == Qt::Key_Down       ? 1
                     : key->key() == Qt::Key_Up       ? -1
                     : key->key() == Qt::Key_PageDown ? 10
                     : key->key() == Qt::Key_PageUp   ? -10
                                                      : 0;
    if (step != 0) {
      list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace stave::gui
