// A scene as pixels. Any thread may paint, each its own image and cache; a frame
// itself is painted row by row on several threads.
#pragma once

#include <QFont>
#include <QImage>
#include <memory>
#include <optional>

#include "gui/view/labels.h"
#include "gui/view/layout.h"

class QPainter;

namespace stave::gui {

// What is kept from frame to frame: texts as pictures, the minimap.
class PaintCache {
 public:
  struct State;

  PaintCache();
  ~PaintCache();
  PaintCache(const PaintCache&) = delete;
  PaintCache& operator=(const PaintCache&) = delete;

  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct PaintOptions {
  QFont font{};                          // its family; sizes follow the rows and the scale
  unsigned threads = 0;                  // 0: as many as there are cores
  std::optional<std::size_t> dragged{};  // a row that is being moved, and where it would go
  std::optional<std::size_t> drop_before{};
  std::optional<Box> rubber{};  // of the box zoom
  // Texts, and lines over the rows, go there and not into the pixels: for pictures of shapes.
  std::vector<PlacedText>* texts = nullptr;
  QPainter* lines = nullptr;
};

// Fills `image`, which must be view.width x view.height and Format_RGB32.
void paint(QImage& image, const Scene& scene, const Layout& layout, const Viewport& view, PaintCache& cache,
           const PaintOptions& options = {});

// All in one call: rows from the top, `visible` or all of the time.
QImage picture(const Scene& scene, int width, int height, std::optional<TimeSpan> visible = std::nullopt,
               const Metrics& metrics = {});

}  // namespace stave::gui
