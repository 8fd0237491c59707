// `stave check --explain`: a finding as a picture, or as a page with the picture, the words and the schedule.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "workbench/check.h"

namespace stave {

struct Explained {
  const CheckedFile* file = nullptr;
  const Finding* finding = nullptr;
};
// The first finding that can be drawn, an error before a warning; none: null.
Explained to_explain(std::span<const CheckedFile> files);

bool is_page(std::string_view path);  // ends in .html
std::string explain_html(const Finding& finding, std::string_view source);

}  // namespace stave
