// A finding as a picture: ranks side by side, their streams as lanes in which time goes down, commands as boxes.
#pragma once

#include <string>
#include <string_view>

#include "analysis/check/finding.h"

namespace stave {

// SVG that needs nothing else; `source` is the schedule's text, whose statements stand in the boxes. The finding has
// a scene.
std::string scene_svg(const Finding& finding, std::string_view source);

}  // namespace stave
