// Where the boxes and arrows of a scene go. All lengths are in SVG units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/check/finding.h"

namespace stave {

inline constexpr int scene_row_gap = 62;

struct SceneLayout {
  struct Rect {
    int x = 0, y = 0, w = 0, h = 0;
  };
  struct Lane {
    std::string stream;
    int x = 0, w = 0;
  };
  struct Column {
    Rank rank = 0;
    int x = 0, w = 0;
    std::vector<Lane> lanes{};
  };
  struct BoxLines {
    std::string title, statement;  // shortened to the box
    std::vector<std::string> says;
  };
  enum class Side : std::uint8_t { Top, Bottom, Left, Right };
  struct End {
    Side side = Side::Top;
    int x = 0, y = 0;
  };
  // An edge of the scene, or the order of two boxes on one stream.
  struct Arrow {
    Scene::Edge::Kind kind = Scene::Edge::Kind::Ordered;
    End from, to;
    // Where it passes rows, it goes straight down (or up) in one lane and turns in the last gap, or in the first.
    bool turns_late = false;
  };

  std::vector<Column> columns;
  std::vector<Rect> boxes;  // by box of the scene
  std::vector<BoxLines> lines;
  std::vector<Arrow> arrows;
  int width = 0, lanes_top = 0, bottom = 0;
};

// `top` is where the ranks' headers begin.
SceneLayout scene_layout(const Scene& scene, std::string_view source, int top);

// Words of a text in lines of at most `width` characters.
std::vector<std::string> wrapped_lines(std::string_view text, std::size_t width);

}  // namespace stave
