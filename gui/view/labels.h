// Texts as pictures: a mask of how much of a pixel a text covers, drawn once and
// blended into frames with any colour.
#pragma once

#include <QFont>
#include <QImage>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gui/view/palette.h"

namespace stave::gui {

struct LabelMask {
  int width = 0, height = 0;
  std::vector<std::uint8_t> cover;  // row by row
};

struct LabelStyle {
  int pixels = 11;  // of the font, device pixels
  bool bold = false;

  friend auto operator<=>(const LabelStyle&, const LabelStyle&) = default;
};

// The text of a kernel's name that tells it from others: no return type, namespaces,
// template arguments or parameters.
std::string_view short_name(std::string_view name);

// A picture's pixels that one thread may write.
struct Canvas {
  Rgb* pixels = nullptr;
  std::ptrdiff_t stride = 0;  // pixels from line to line
  int width = 0;
  int top = 0, bottom = 0;  // lines that may be written

  Rgb* line(int y) const { return pixels + stride * y; }
};
Canvas canvas_of(QImage& image);

// A text of a picture that is drawn as text, not as pixels.
struct PlacedText {
  std::string text;
  LabelStyle style{};
  int x = 0, right = 0, y = 0;  // its left top, and where it is cut
  int top = 0, bottom = 0;      // lines that it may be seen in
  Rgb colour = 0;
};

class Labels {
 public:
  std::vector<PlacedText>* record = nullptr;  // texts go there instead of into pixels

  // Forgets all if the font is another one.
  void use(const QFont& font);
  // Valid until `trim`.
  const LabelMask& mask(std::string_view text, LabelStyle style);
  // As blit(), of the mask.
  void draw(const Canvas& canvas, std::string_view text, LabelStyle style, int x, int y, int right, Rgb colour);
  // Between frames: forgets all if there are too many.
  void trim();
  std::size_t size() const { return masks_.size(); }

 private:
  QFont font_;
  std::string key_;
  std::unordered_map<std::string, LabelMask> masks_;
};

// With its left top at (x, y), only in [x, right); what does not fit fades out.
void blit(const Canvas& canvas, const LabelMask& mask, int x, int y, int right, Rgb colour);

}  // namespace stave::gui
