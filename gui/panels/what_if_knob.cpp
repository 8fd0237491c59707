#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSlider>

#include <algorithm>
#include <cmath>

#include "gui/panels/what_if_panel.h"

namespace stave::gui {
namespace {

// From a tenth to ten times, on a logarithmic scale.
constexpr int knob_steps = 200;

}  // namespace

Knob::Knob(Spec spec, QWidget* parent)
    : QWidget(parent),
      spec_(std::move(spec)),
      slider_(new QSlider(Qt::Horizontal, this)),
      field_(new QDoubleSpinBox(this)) {
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(slider_, 1);
  line->addWidget(field_);
  field_->setFixedWidth(104);
  field_->setDecimals(spec_.whole ? 0 : spec_.suffix.isEmpty() ? 2 : 3);
  field_->setRange(spec_.whole ? 1 : 0.001, 1e6);
  field_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  field_->setSuffix(spec_.suffix.isEmpty() ? "" : " " + spec_.suffix);
  if (spec_.suffix.isEmpty() && !spec_.whole) field_->setPrefix(QString::fromUtf8("× "));
  field_->setKeyboardTracking(false);
  field_->setAlignment(Qt::AlignRight);
  slider_->setRange(spec_.whole ? 1 : -knob_steps, knob_steps);
  slider_->setPageStep(spec_.whole ? 8 : 20);
  connect(slider_, &QSlider::valueChanged, this, [this](int at) {
    if (showing_) return;
    // The first step of a drag is a change of its own; undo leads back before it.
    const bool merge = moving_;
    moving_ = slider_->isSliderDown();
    emit changed(value_of(at), merge);
  });
  connect(slider_, &QSlider::sliderReleased, this, [this] { moving_ = false; });
  connect(field_, &QDoubleSpinBox::valueChanged, this, [this](double shown) {
    if (showing_) return;
    emit changed(spec_.inverse ? 1 / shown : shown * spec_.unit, false);
  });
}

int Knob::slider_of(double value) const {
  if (spec_.whole) return static_cast<int>(value);
  const double factor = spec_.inverse ? base_ / value : value / base_;
  return static_cast<int>(std::lround(std::clamp(std::log10(factor), -1.0, 1.0) * knob_steps));
}

double Knob::value_of(int slider) const {
  if (spec_.whole) return slider;
  const double factor = std::pow(10.0, static_cast<double>(slider) / knob_steps);
  return spec_.inverse ? base_ / factor : base_ * factor;
}

void Knob::show_value(double base, double value) {
  showing_ = true;
  base_ = base;
  // As many digits as a person reads.
  if (!spec_.suffix.isEmpty()) field_->setDecimals(base / spec_.unit >= 1000 ? 0 : base / spec_.unit >= 100 ? 1 : 3);
  if (spec_.whole) slider_->setRange(1, std::max(1, static_cast<int>(base)));
  // A hand that holds the slider knows where it is.
  if (!slider_->isSliderDown()) slider_->setValue(slider_of(value));
  if (!field_->hasFocus() || slider_->isSliderDown() || value_of(slider_->value()) != value)
    field_->setValue(spec_.inverse ? 1 / value : value / spec_.unit);
  QFont font = field_->font();
  font.setBold(value != base);
  field_->setFont(font);
  showing_ = false;
}

}  // namespace stave::gui
