// Pictures that are kept: what is drawn must look as it did when somebody looked at it.
#pragma once

#include <QFont>
#include <QImage>

#include <string>

namespace stave::gui {

// By squares of 4 x 4 pixels: how much two pictures of one size differ.
struct PictureDifference {
  double mean = 0;   // of the colours, 0 to 255
  double share = 0;  // of the squares, 0 to 1: those that differ visibly

  bool small() const { return mean <= 0.25 && share <= 0.001; }
};
PictureDifference difference_of(const QImage& a, const QImage& b);

// The font of all pictures, which comes with fontconfig on Debian.
QFont golden_font();
// Empty if texts are drawn here as they were for the pictures; else why not.
std::string why_no_text();

// Compares with tests/gui/golden/NAME.png. A picture that differs is written to the folder of
// temporary files and the failure says where. With STAVE_UPDATE_GOLDEN=1 the kept one is replaced.
void expect_golden(const std::string& name, const QImage& picture);

}  // namespace stave::gui
