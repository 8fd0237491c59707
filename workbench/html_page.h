// What Stave's pages share: the frame with its policy, tables, numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/export/texts.h"

namespace stave {

// `body` is HTML. `data` is JSON for the script, which is `script` below; empty: no script.
// The policy allows this style and this script, by hash, and nothing else.
std::string html_page(std::string_view title, const std::string& body, const std::string& data = "");

struct HtmlColumn {
  std::string_view title;
  bool number = true;  // stands at the right
};
// Cells are texts and get escaped. Rows that `all` has more than `rows` are counted below.
std::string html_table(std::string_view title, const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<std::string>>& rows, std::size_t all);

// "</" and "<!--" cannot come from it: for JSON inside <script>.
std::string json_for_script(std::string_view json);

extern const std::string_view html_style;
extern const std::string_view timeline_script;

}  // namespace stave
