#include "tests/gui/golden.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFileInfo>
#include <QFontInfo>
#include <QGuiApplication>
#include <QPainter>

#include <algorithm>
#include <cstdlib>

#include "gui/view/labels.h"

namespace stave::gui {
namespace {

QString kept_file(const std::string& name) {
  return QString::fromStdString(STAVE_SOURCE_DIR "/tests/gui/golden/" + name + ".png");
}

bool updating() { return qEnvironmentVariableIsSet("STAVE_UPDATE_GOLDEN"); }

// Large and small, regular and bold, as labels are.
QImage sample_text() {
  QImage image(320, 80, QImage::Format_RGB32);
  image.fill(Qt::white);
  Labels labels;
  labels.use(golden_font());
  const Canvas canvas = canvas_of(image);
  int y = 4;
  for (const LabelStyle style : {LabelStyle{9}, LabelStyle{11}, LabelStyle{12, true}, LabelStyle{12}}) {
    blit(canvas, labels.mask("all_reduce#12 of rank 7: 349.2 us", style), 4, y, 316, 0xff000000);
    y += 18;
  }
  return image;
}

}  // namespace

PictureDifference difference_of(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return {255, 1};
  constexpr int side = 4, visible = 12;
  const QImage left = a.convertToFormat(QImage::Format_RGB32), right = b.convertToFormat(QImage::Format_RGB32);
  double sum = 0, squares = 0, differing = 0;
  for (int top = 0; top < a.height(); top += side)
    for (int first = 0; first < a.width(); first += side) {
      const int bottom = std::min(top + side, a.height()), last = std::min(first + side, a.width());
      int difference[3] = {};
      for (int y = top; y < bottom; ++y)
        for (int x = first; x < last; ++x) {
          const QRgb p = left.pixel(x, y), q = right.pixel(x, y);
          difference[0] += qRed(p) - qRed(q);
          difference[1] += qGreen(p) - qGreen(q);
          difference[2] += qBlue(p) - qBlue(q);
        }
      int most = 0;
      for (const int one : difference) {
        sum += std::abs(one);
        most = std::max(most, std::abs(one));
      }
      ++squares;
      differing += most > visible * (bottom - top) * (last - first);
    }
  return {sum / (3.0 * a.width() * a.height()), differing / squares};
}

QFont golden_font() {
  QFont font("DejaVu Sans");
  font.setPixelSize(12);
  return font;
}

std::string why_no_text() {
  if (QGuiApplication::platformName() != "offscreen") return "the pictures are made by QT_QPA_PLATFORM=offscreen";
  if (qGuiApp->devicePixelRatio() != 1) return "the pictures are made at a scale of 1";
  if (QFontInfo(golden_font()).family() != "DejaVu Sans")
    return "the font DejaVu Sans is not installed (Debian: fonts-dejavu-core)";
  if (updating()) return {};
  const QImage kept(kept_file("text"));
  if (!difference_of(kept, sample_text()).small())
    return "texts are drawn differently here: the pictures are made with Qt and FreeType of Debian 12";
  return {};
}

void expect_golden(const std::string& name, const QImage& picture) {
  const QString file = kept_file(name);
  if (updating()) {
    QDir().mkpath(QFileInfo(file).path());
    ASSERT_TRUE(picture.convertToFormat(QImage::Format_RGB32).save(file, "PNG", 0)) << file.toStdString();
    return;
  }
  const QImage kept(file);
  ASSERT_FALSE(kept.isNull()) << "there is no " << file.toStdString() << "; STAVE_UPDATE_GOLDEN=1 writes it";
  const PictureDifference difference = difference_of(kept, picture);
  if (difference.small()) return;
  const QString got = QDir::tempPath() + "/stave-golden-" + QString::fromStdString(name) + ".png";
  picture.save(got);
  ADD_FAILURE() << "differs from " << file.toStdString() << " (" << kept.width() << "x" << kept.height()
                << "): " << 100 * difference.share << " % of the picture, " << difference.mean
                << " of 255 on average.\nWhat was drawn is in " << got.toStdString()
                << "\nIf it is right, STAVE_UPDATE_GOLDEN=1 replaces the kept one.";
}

TEST(Golden, TextsAreDrawnAsOnDebian12) {
  if (const std::string reason = why_no_text(); !reason.empty()) GTEST_SKIP() << reason;
  expect_golden("text", sample_text());
}

// A slice that is gone, or of another colour, is seen; a shade more or less is not.
TEST(Golden, DifferencesAreToldFromNoise) {
  QImage picture(640, 240, QImage::Format_RGB32);
  picture.fill(0xff335577);
  QImage other = picture;
  other.fill(0xff345677);
  EXPECT_FALSE(difference_of(picture, other).small());
  other = picture;
  for (int i = 0; i < 240; ++i) other.setPixel(i, i, 0xff3a5d80);
  EXPECT_TRUE(difference_of(picture, other).small());
  QPainter(&other).fillRect(100, 100, 24, 18, Qt::red);
  EXPECT_FALSE(difference_of(picture, other).small());
  EXPECT_FALSE(difference_of(picture, picture.copy(0, 0, 640, 239)).small());
}

}  // namespace stave::gui
