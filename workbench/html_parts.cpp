#include "workbench/html_parts.h"

#include <fmt/format.h>

#include "profiles/export/palette.h"
#include "workbench/units_text.h"

namespace stave {

std::string time_words(Picoseconds time) {
  std::string text = duration_text(time);
  if (text.ends_with(" us")) text.replace(text.size() - 2, 1, "µ");
  return text;
}

std::string html_figure(std::string_view value, std::string_view title) {
  return fmt::format("<div class=\"figure\"><b>{}</b><span>{}</span></div>\n", xml_text(value), xml_text(title));
}

std::string problems_html(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += fmt::format("<p class=\"{}\">{}{}: {} [{}]</p>\n", problem.severity == Severity::Note ? "note" : "warn",
                       problem.place.file.empty() ? "" : xml_text(problem.place.file) + ": ", name_of(problem.severity),
                       xml_text(problem.message), xml_text(problem.code));
  return out;
}

std::string timeline_html(const TimelineData& data) {
  std::string out =
      "<section>\n<h2>Timeline</h2>\n<div class=\"tools\">\n"
      "<input id=\"find\" type=\"search\" placeholder=\"Search names (press /)\" aria-label=\"Search names\" "
      "autocomplete=\"off\">\n"
      "<span id=\"found\" class=\"about\" aria-live=\"polite\"></span>\n"
      "<button id=\"in\" type=\"button\">Zoom in</button>\n<button id=\"out\" type=\"button\">Zoom out</button>\n"
      "<button id=\"fit\" type=\"button\">All</button>\n</div>\n"
      "<div id=\"timeline\"><canvas tabindex=\"0\" role=\"img\" "
      "aria-label=\"Timeline of all tracks; the tables of this page say the same in numbers\"></canvas>"
      "<div id=\"tip\" role=\"tooltip\"></div></div>\n<p id=\"picked\" aria-live=\"polite\"></p>\n";
  out += "<ul class=\"keys\">";
  for (std::uint8_t f = 0; f < family_count; ++f)
    if (const auto family = static_cast<Family>(f); data.families[f])
      out += fmt::format(
          "<li><svg viewBox=\"0 0 12 12\"><rect class=\"family-{0}\" width=\"12\" height=\"12\" "
          "fill=\"{1}\"/></svg>{0}</li>",
          name_of(family), paint_of(family).fill);
  out += "<li>pale: waits for peers or SMs</li></ul>\n";
  out +=
      "<p class=\"note\">Wheel or W and S zoom, drag or A and D move, Shift and wheel go through the rows, a click "
      "keeps "
      "the details, F goes to what is chosen, 0 shows all.</p>\n";
  if (data.together.count() > 0)
    out += fmt::format(
        "<p class=\"note warn\">The window has {} slices. The page draws {} blocks: neighbours within {} "
        "stand together. For each slice take a shorter --window, or stave export.</p>\n",
        data.slices, data.shown, time_words(data.together));
  return out + "</section>\n";
}

}  // namespace stave
