#include <QFontDatabase>
#include <QPlainTextEdit>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {

QWidget* make_output_panel(Session& session, QWidget* parent) {
  auto* text = new QPlainTextEdit(parent);
  text->setReadOnly(true);
  text->setFrameShape(QFrame::NoFrame);
  text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text->setPlaceholderText(
      "What a schedule computes, after Schedule > Run on the CPU, and what an import read of a trace.");
  const auto refresh = [&session, text] {
    QString all = session.output();
    if (const RunPtr run = session.chosen_run(); run && !run->notes.empty()) all += "\n" + words(run->notes);
    if (text->toPlainText() != all) text->setPlainText(all.trimmed());
  };
  QObject::connect(&session, &Session::output_changed, text, refresh);
  QObject::connect(&session, &Session::runs_changed, text, refresh);
  refresh();
  return text;
}

}  // namespace stave::gui
