#include "gui/svg.h"

#include <QFile>
#include <QImage>
#include <QPainter>
#include <QXmlStreamReader>

#include <map>

#include "gui/view/timeline_view.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

struct SvgContent {
  std::map<QString, int> elements{};
  QStringList texts{}, clips{};
  QString problem{};
};

SvgContent look_at(const QByteArray& svg) {
  SvgContent seen;
  QXmlStreamReader xml(svg);
  while (!xml.atEnd()) {
    xml.readNext();
    if (!xml.isStartElement()) continue;
    const QString name = xml.name().toString();
    ++seen.elements[name];
    if (name == "g") seen.clips << xml.attributes().value("clip-path").toString();
    if (name == "text") seen.texts << xml.readElementText();
  }
  if (xml.hasError()) seen.problem = xml.errorString();
  return seen;
}

TEST(Svg, HasShapesAndTexts) {
  SvgPicture picture({200, 100});
  QPainter painter(&picture);
  EXPECT_TRUE(is_svg(painter));
  painter.fillRect(10, 10, 30, 20, QColor(255, 0, 0, 128));
  painter.setPen(QPen(Qt::blue, 2, Qt::DashLine));
  painter.drawLine(0, 0, 50, 50);
  painter.drawText(20, 40, "a < b & \"c\"");
  painter.end();
  const QByteArray svg = picture.svg();
  const SvgContent seen = look_at(svg);
  EXPECT_EQ(seen.problem, "") << svg.toStdString();
  EXPECT_EQ(seen.texts, QStringList{"a < b & \"c\""});
  EXPECT_TRUE(svg.contains("fill=\"#ff0000\" fill-opacity=\"0.5\""));
  EXPECT_TRUE(svg.contains("stroke-dasharray"));
  EXPECT_TRUE(svg.contains("width=\"200\" height=\"100\""));
}

// Nested as widgets nest it, taken back, and one that leaves nothing over.
TEST(Svg, Clips) {
  SvgPicture picture({100, 100});
  QPainter painter(&picture);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Qt::black);
  painter.drawRect(0, 0, 10, 10);
  painter.setClipRect(10, 10, 50, 50);
  painter.drawRect(0, 0, 100, 100);
  painter.save();
  painter.setClipRect(40, 40, 50, 50, Qt::IntersectClip);
  painter.drawRect(0, 0, 100, 100);
  painter.restore();
  painter.drawRect(0, 0, 100, 100);
  painter.setClipping(false);
  painter.drawRect(90, 90, 10, 10);
  painter.end();
  const SvgContent seen = look_at(picture.svg());
  EXPECT_EQ(seen.clips, (QStringList{"url(#c0)", "url(#c1)", "url(#c0)"}));
  EXPECT_EQ(seen.elements.at("clipPath"), 2);
}

TEST(Svg, DrawsFlatPixelsAsFewShapes) {
  QImage image(40, 30, QImage::Format_RGB32);
  image.fill(Qt::white);
  for (int y = 5; y < 15; ++y)
    for (int x = 10; x < 30; ++x) image.setPixelColor(x, y, Qt::red);
  SvgPicture picture({40, 30});
  QPainter painter(&picture);
  draw_as_rectangles(painter, image);
  painter.end();
  const QByteArray svg = picture.svg();
  EXPECT_EQ(look_at(svg).elements.at("path"), 2);
  EXPECT_TRUE(svg.contains("M10 5L30 5L30 15L10 15L10 5")) << svg.toStdString();
}

TEST(Svg, OfTheWindowAndOfTheView) {
  const TempFolder folder;
  MainWindow window({.remember = false, .theme = ThemeChoice::Dark, .size = {1280, 720}});
  window.show();
  open_and_wait(window.session(), {ring_file});
  window.session().select(slice_named(window.session(), "gemm"));
  for (const bool of_window : {true, false}) {
    const std::string file = folder / (of_window ? "window.svg" : "view.svg");
    ASSERT_TRUE(window.write_picture(qt(file), of_window));
    QFile svg(qt(file));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    const SvgContent seen = look_at(svg.readAll());
    EXPECT_EQ(seen.problem, "");
    EXPECT_TRUE(seen.texts.contains("gemm#1")) << seen.texts.join('|').toStdString();
    EXPECT_TRUE(seen.texts.contains("communication 0"));
    EXPECT_EQ(seen.texts.contains("Overview"), of_window);
    EXPECT_LT(svg.size(), 1'000'000);
    // The timeline is no picture inside of the picture.
    if (!of_window) {
      EXPECT_FALSE(seen.elements.contains("image"));
    }
  }
  const Result<void> nowhere = window.write_picture(qt(folder / "no such folder/view.svg"), false);
  ASSERT_FALSE(nowhere);
  EXPECT_FALSE(nowhere.problems()[0].message.empty());
}

}  // namespace
}  // namespace stave::gui
