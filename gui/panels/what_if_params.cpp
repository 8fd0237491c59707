// The what-if panel's fields for parameters of the schedule.
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>

#include "core/text/print.h"
#include "gui/panels/what_if_panel.h"
#include "gui/session.h"
#include "gui/words.h"

namespace stave::gui {

QLabel* what_if_heading(const QString& text) {
  auto* label = new QLabel("<b>" + text + "</b>");
  label->setContentsMargins(0, 8, 0, 0);
  return label;
}

void WhatIfPanel::show_params() {
  const std::shared_ptr<const Module> module = session_.outcome().module;
  if (!module) return;
  std::vector<std::string> names;
  for (const ParamDecl& param : module->params)
    names.push_back(std::string(module->text(param.name)) + "=" + print_expr(*module, param.value) + "/" +
                    (param.allowed ? print_expr(*module, param.allowed) : ""));
  if (names != shown_params_) {
    shown_params_ = names;
    param_fields_.clear();
    while (params_->rowCount() > 0) params_->removeRow(0);
    if (!names.empty()) params_->addRow(what_if_heading("Parameters"));
    for (const ParamDecl& param : module->params) {
      const std::string name(module->text(param.name));
      QWidget* field = nullptr;
      const auto take = [this, name](const QString& text) {
        if (!showing_ && !text.isEmpty()) session_.edit(ParamEdit{name, text.toStdString()});
      };
      if (param.allowed && module->exprs[param.allowed].kind == ExprKind::List) {
        auto* box = new QComboBox;
        for (const Id<ExprListTag> child : module->exprs[param.allowed].children())
          box->addItem(words(print_expr(*module, module->expr_lists[child])));
        connect(box, &QComboBox::currentTextChanged, this, take);
        field = box;
      } else {
        auto* line = new QLineEdit;
        if (param.allowed) line->setToolTip("Allowed: " + words(print_expr(*module, param.allowed)));
        connect(line, &QLineEdit::editingFinished, this, [take, line] { take(line->text()); });
        field = line;
      }
      auto* label = new QLabel(words(name));
      label->setFixedWidth(fontMetrics().horizontalAdvance("Memory bandwidth") + 2);
      label->setToolTip(words(name));
      params_->addRow(label, field);
      param_fields_.emplace_back(name, field);
    }
  }
  for (const auto& [name, field] : param_fields_) {
    QString value;
    for (const ParamDecl& param : module->params)
      if (module->text(param.name) == name) value = words(print_expr(*module, param.value));
    if (const Edit* edit = stave::find(session_.draft().edits, ParamEdit{name, ""}))
      value = words(std::get<ParamEdit>(*edit).value);
    if (auto* box = qobject_cast<QComboBox*>(field)) {
      if (box->findText(value) < 0) box->addItem(value);
      box->setCurrentText(value);
    } else if (auto* line = qobject_cast<QLineEdit*>(field); line && !line->hasFocus()) {
      line->setText(value);
    }
  }
}

}  // namespace stave::gui
