#include "gui/view/labels.h"

#include <QFontMetrics>
#include <QPainter>
#include <algorithm>

namespace stave::gui {

std::string_view short_name(std::string_view name) {
  const std::string_view all = name;
  if (name.empty() || name.front() == '<') return all;
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (name.ends_with(')') || name.ends_with('>')) {
    // Up to the first bracket of arguments; "(anonymous namespace)" is none.
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t end = 1;
    for (; end < name.size() && name[end] != '<'; ++end) {
      if (name[end] != '(' || name[end - 1] == ' ') continue;
      if (!name.substr(end).starts_with(unnamed)) break;
      end += unnamed.size() - 1;
    }
    name = name.substr(0, end);
  } else if (name.find_first_of(" /") != std::string_view::npos) {
    return all;  // no name of C++
  }
  const std::size_t colons = name.rfind("::");
  if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
  return name.empty() ? all : name;
}

void Labels::use(const QFont& font) {
  if (font == font_) return;
  font_ = font;
  masks_.clear();
}

const LabelMask& Labels::mask(std::string_view text, LabelStyle style) {
  key_.assign(1, static_cast<char>(style.bold));
  key_ += static_cast<char>(style.pixels);
  key_ += text;
  const auto [at, added] = masks_.try_emplace(key_);
  LabelMask& mask = at->second;
  if (!added) return mask;

  QFont font = font_;
  font.setPixelSize(std::max(style.pixels, 1));
  font.setWeight(style.bold ? QFont::DemiBold : QFont::Normal);
  font.setStyleStrategy(QFont::NoSubpixelAntialias);
  constexpr std::size_t longest = 256;  // bytes; wider than any slice on screen
  const QString shown = QString::fromUtf8(text.data(), static_cast<qsizetype>(std::min(text.size(), longest)));
  const QFontMetrics metrics(font);
  mask.width = metrics.horizontalAdvance(shown) + 2;
  mask.height = metrics.height();
  QImage image(mask.width, mask.height, QImage::Format_RGB32);
  image.fill(Qt::black);
  QPainter painter(&image);
  painter.setFont(font);
  painter.setPen(Qt::white);
  painter.drawText(0, metrics.ascent(), shown);
  painter.end();
  mask.cover.resize(static_cast<std::size_t>(mask.width) * static_cast<std::size_t>(mask.height));
  auto cover = mask.cover.begin();
  for (int y = 0; y < mask.height; ++y) {
    const auto* line = reinterpret_cast<const Rgb*>(image.constScanLine(y));
    for (int x = 0; x < mask.width; ++x) *cover++ = static_cast<std::uint8_t>((line[x] >> 8) & 0xff);
  }
  return mask;
}

void Labels::draw(const Canvas& canvas, std::string_view text, LabelStyle style, int x, int y, int right, Rgb colour) {
  if (record) {
    record->push_back({std::string(text), style, x, right, y, canvas.top, canvas.bottom, colour});
  } else {
    blit(canvas, mask(text, style), x, y, right, colour);
  }
}

void Labels::trim() {
  constexpr std::size_t most = 8192;  // some 10 MB
  if (masks_.size() > most) masks_.clear();
}

Canvas canvas_of(QImage& image) {
  return {.pixels = reinterpret_cast<Rgb*>(image.bits()),
          .stride = image.bytesPerLine() / static_cast<std::ptrdiff_t>(sizeof(Rgb)),
          .width = image.width(),
          .top = 0,
          .bottom = image.height()};
}

void blit(const Canvas& canvas, const LabelMask& mask, int x, int y, int right, Rgb colour) {
  right = std::min({right, x + mask.width, canvas.width});
  const int fade = x + mask.width > right ? std::min(mask.height, (right - x) / 2) : 0;
  for (int line = std::max(0, canvas.top - y); line < std::min(mask.height, canvas.bottom - y); ++line) {
    Rgb* to = canvas.line(y + line);
    const std::uint8_t* cover = mask.cover.data() + static_cast<std::ptrdiff_t>(line) * mask.width;
    for (int column = std::max(x, 0); column < right; ++column) {
      unsigned part = cover[column - x];
      if (part == 0) continue;
      if (right - column <= fade) part = part * static_cast<unsigned>(right - column) / static_cast<unsigned>(fade + 1);
      to[column] = blend(to[column], colour, part + (part >> 7));
    }
  }
}

}  // namespace stave::gui
