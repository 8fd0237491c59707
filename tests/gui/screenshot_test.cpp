#include "gui/screenshot.h"

#include <QFile>
#include <QImage>
#include <QProcess>

#include <algorithm>
#include <map>

#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

struct Finished {
  int exit = -1;
  std::string out, err;
};

Finished stave_gui(const QStringList& arguments) {
  QProcess process;
  process.start(STAVE_GUI_BINARY, arguments);
  process.waitForFinished(60'000);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          process.readAllStandardOutput().toStdString(), process.readAllStandardError().toStdString()};
}

// Parts of the picture that are of another colour than its most frequent one.
double drawn_part(const QImage& image) {
  std::map<QRgb, int> colours;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) ++colours[image.pixel(x, y)];
  int most = 0, all = 0;
  for (const auto& [colour, count] : colours) {
    most = std::max(most, count);
    all += count;
  }
  return 1 - static_cast<double>(most) / all;
}

TEST(Screenshot, DrawsWithoutADisplay) {
  const TempFolder folder;
  const QString file = qt(folder / "ring.png"), dark = qt(folder / "dark.png");
  const Finished drawn = stave_gui({"--screenshot", file, "--size", "1100x600", "--view", "what-if", "--search", "gemm",
                                    "--what-if", "link.device.bandwidth_bytes_per_s=x0.5", qt(ring_file)});
  EXPECT_EQ(drawn.exit, 0) << drawn.err;
  const QImage image(file);
  EXPECT_EQ(image.size(), QSize(1100, 600));
  EXPECT_GT(drawn_part(image), 0.2);
  EXPECT_EQ(stave_gui({"--screenshot", dark, "--dark", "--zoom", "0us..100us", qt(ring_file)}).exit, 0);
  EXPECT_LT(qGray(QImage(dark).pixel(640, 30)), 100);
  EXPECT_GT(qGray(image.pixel(500, 30)), 150);
}

TEST(Screenshot, SaysWhatIsWrong) {
  const TempFolder folder;
  put(folder / "foreign.txt", "hello");
  const QString file = qt(folder / "a.png");
  const Finished foreign = stave_gui({"--screenshot", file, qt(folder / "foreign.txt")});
  EXPECT_EQ(foreign.exit, 2);
  EXPECT_NE(foreign.err.find("STV0730"), std::string::npos) << foreign.err;
  EXPECT_FALSE(QFile::exists(file));
  EXPECT_EQ(stave_gui({"--screenshot", file, qt(folder / "missing.sqlite")}).exit, 2);
  EXPECT_EQ(stave_gui({"--screenshot", file, "--size", "huge"}).exit, 2);
  EXPECT_EQ(stave_gui({"--screenshot", file, "--view", "wings", qt(ring_file)}).exit, 2);
  EXPECT_EQ(stave_gui({"--wings"}).exit, 2);
  EXPECT_EQ(stave_gui({"--screenshot", "/nowhere/a.png", qt(ring_file)}).exit, 3);
}

// No picture is drawn as if nothing had been asked.
TEST(Screenshot, SaysWhatItWasAskedForInVain) {
  const TempFolder folder;
  const QString file = qt(folder / "a.png"), ring = qt(ring_file);
  put(folder / "trace.json", R"([{"ph":"X","pid":0,"tid":0,"name":"a","ts":0,"dur":10}])");
  const std::pair<QStringList, const char*> asked[] = {
      {{"--what-if", "link.*=x0.5", ring}, "STV1930"},
      {{"--what-if", "wings=1", ring}, "wings"},
      {{"--what-if", "device.sm_count=-1", ring}, "STV1931"},
      {{"--what-if", "fast", ring}, "STV0901"},
      {{"--what-if", "device.sm_count=64", qt(folder / "trace.json")}, "--what-if changes a schedule"},
      {{"--view", "wings", ring}, "there is no view \"wings\"; there are schedule"},
      {{"--search", "gemm(", ring}, "--search \"gemm(\" is not a regular expression: "},
      {{"--zoom", "5us", ring}, "--zoom 5us: write step:3"},
      {{"--zoom", "step:7", ring}, "--zoom step:7: the run has no step 7"},
  };
  for (const auto& [arguments, words] : asked) {
    const Finished finished = stave_gui(QStringList{"--screenshot", file} + arguments);
    EXPECT_EQ(finished.exit, 2) << words;
    EXPECT_NE(finished.err.find(words), std::string::npos) << words << " is not in: " << finished.err;
    EXPECT_FALSE(QFile::exists(file)) << words;
  }
  EXPECT_NE(stave_gui({"--zoom", "step:1", ring}).err.find("--zoom is for pictures"), std::string::npos);
}

TEST(Screenshot, HelpAndVersionNeedNoDisplay) {
  EXPECT_NE(stave_gui({"--help"}).out.find("--screenshot"), std::string::npos);
  EXPECT_EQ(stave_gui({"--version"}).out, "stave-gui " STAVE_VERSION "\n");
  EXPECT_NE(stave_gui({"--view", "help"}).out.find("collectives"), std::string::npos);
}

TEST(Screenshot, EditsAreReadFromText) {
  const auto text_of = [](const std::string& text) {
    const Result<Edit> edit = edit_from(text);
    return edit ? to_text(*edit) : edit.problems()[0].code;
  };
  EXPECT_EQ(text_of("n=2048"), "param n = 2048");
  EXPECT_EQ(text_of("device.sm_count=64"), "device.sm_count = 64");
  EXPECT_EQ(text_of("host.*=x0.5"), "host.* x 0.5");
  EXPECT_EQ(text_of("host.*=fast"), "STV0901");
  EXPECT_EQ(text_of("wings"), "STV0901");
}

}  // namespace
}  // namespace stave::gui
