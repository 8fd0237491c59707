// Sliders and fields for the machine and the schedule; what changes is predicted at
// once, and the old prediction stays as a ghost.
#pragma once

#include <QWidget>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/edits.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSlider;
class QStackedWidget;

namespace stave::gui {

class Session;

// A slider and a field for a number of the machine.
class Knob : public QWidget {
  Q_OBJECT

 public:
  struct Spec {
    std::string field;  // of an edit; with `*` it scales several numbers
    double unit = 1;    // of the field shown, in the number's own unit
    QString suffix{};
    bool whole = false;    // the slider is linear, from 1 to what the machine has
    bool inverse = false;  // shows 1 / factor: a speed, where the numbers are times
  };

  Knob(Spec spec, QWidget* parent);
  const Spec& spec() const { return spec_; }
  // What the machine file says, and what is shown. For fields of several numbers: factors.
  void show_value(double base, double value);
  QSlider* slider() const { return slider_; }
  QDoubleSpinBox* field() const { return field_; }

 signals:
  // `merge`: it moves on.
  void changed(double value, bool merge);

 private:
  int slider_of(double value) const;
  double value_of(int slider) const;

  Spec spec_;
  QSlider* slider_;
  QDoubleSpinBox* field_;
  double base_ = 1;
  bool showing_ = false;
  bool moving_ = false;
};

class WhatIfPanel : public QWidget {
  Q_OBJECT

 public:
  WhatIfPanel(Session& session, QWidget* parent);
  Knob* knob(std::string_view field) const;

 private:
  void build_machine(QFormLayout* form);
  void show_draft();
  void show_outcome();
  void show_params();
  void show_move();
  double base_of(const Knob& knob) const;

  Session& session_;
  QStackedWidget* pages_;
  QLabel* nothing_;
  QPushButton* adopt_;
  QLabel* result_;
  QLabel* edits_;
  QComboBox* machine_;
  QComboBox* clock_;
  QComboBox* mode_;
  std::vector<Knob*> knobs_;
  QFormLayout* params_;
  std::vector<std::string> shown_params_;
  std::vector<std::pair<std::string, QWidget*>> param_fields_;
  QLabel* moved_command_;
  QComboBox* streams_;
  QPushButton* move_;
  QPushButton* undo_;
  QPushButton* redo_;
  QPushButton* reset_;
  QPushButton* keep_;
  bool showing_ = false;
};

QLabel* what_if_heading(const QString& text);

}  // namespace stave::gui
