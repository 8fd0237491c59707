// Parts that the pages of a report and of a comparison have in common.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "workbench/html_page.h"
#include "workbench/html_timeline.h"

namespace stave {

using HtmlRows = std::vector<std::vector<std::string>>;

// The page is Unicode: "µs".
std::string time_words(Picoseconds time);
std::string html_figure(std::string_view value, std::string_view title);
std::string problems_html(const Problems& problems);
// The canvas of the page's data, with its keys.
std::string timeline_html(const TimelineData& data);

// `cells(item)` are the texts of a row. "" without items.
template <class Item, class Cells>
std::string html_table_of(std::string_view title, const std::vector<HtmlColumn>& columns,
                          const std::vector<Item>& items, std::size_t most, Cells cells) {
  if (items.empty()) return "";
  HtmlRows rows;
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) rows.push_back(cells(items[i]));
  return html_table(title, columns, rows, items.size());
}

}  // namespace stave
