#include "workbench/explain.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "workbench/check_codes.h"
#include "workbench/html_page.h"
#include "workbench/scene_svg.h"

namespace stave {
namespace {

// Lines around those that a finding speaks of.
constexpr std::uint32_t context_lines = 4;

std::set<std::uint32_t> lines_of(const Finding& finding) {
  std::set<std::uint32_t> lines = {finding.problem.place.line};
  for (const Note& note : finding.problem.notes) lines.insert(note.place.line);
  for (const Scene::Box& box : finding.scene.boxes) lines.insert(box.line);
  lines.erase(0);
  return lines;
}

// Between backquotes as code.
std::string words_html(std::string_view words) {
  std::string out;
  for (bool code = false;; code = !code) {
    const std::size_t mark = words.find('`');
    out += xml_text(words.substr(0, mark));
    if (mark == std::string_view::npos) return out;
    out += code ? "</code>" : "<code>";
    words.remove_prefix(mark + 1);
  }
}

std::string schedule_html(std::string_view source, const std::set<std::uint32_t>& marked) {
  std::string out = "<section>\n<h2>The schedule</h2>\n<div class=\"scroll\"><pre><code>";
  bool skipped = false;
  for (std::uint32_t number = 1; !source.empty(); ++number) {
    const std::size_t newline = source.find('\n');
    const std::string_view line = source.substr(0, newline);
    source = newline == std::string_view::npos ? std::string_view{} : source.substr(newline + 1);
    const auto near = marked.lower_bound(number < context_lines ? 0 : number - context_lines);
    if (near == marked.end() || *near > number + context_lines) {
      if (!skipped) out += "    …\n";
      skipped = true;
      continue;
    }
    skipped = false;
    const std::string text = xml_text(line);
    out += fmt::format("{:4}  {}\n", number, marked.contains(number) ? fmt::format("<mark>{}</mark>", text) : text);
  }
  return out + "</code></pre></div>\n</section>\n";
}

}  // namespace

Explained to_explain(std::span<const CheckedFile> files) {
  for (const Severity severity : {Severity::Error, Severity::Warning})
    for (const CheckedFile& file : files)
      for (const Finding& finding : file.report.findings)
        if (finding.problem.severity == severity && finding.silenced.empty() && !finding.scene.boxes.empty())
          return {&file, &finding};
  return {};
}

bool is_page(std::string_view path) { return path.ends_with(".html"); }

std::string explain_html(const Finding& finding, std::string_view source) {
  const Problem& problem = finding.problem;
  const CheckCode* code = find_check_code(problem.code);
  const std::string title = fmt::format("{}:{}: {}", problem.place.file, problem.place.line,
                                        code ? code->title : std::string_view("a finding"));
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"about\">{}, {}</p>\n", xml_text(title),
                                 name_of(problem.severity), problem.code);
  body += fmt::format("<p>{}</p>\n", words_html(problem.message));
  if (!finding.fix.empty()) body += fmt::format("<p><b>Fix:</b> {}.</p>\n", words_html(finding.fix));
  body += "<section class=\"scroll\">\n" + scene_svg(finding, source) + "</section>\n";
  if (!problem.notes.empty()) {
    body += "<section>\n<h2>Where</h2>\n<ul>\n";
    for (const Note& note : problem.notes)
      body += fmt::format("<li>line {}: {}</li>\n", note.place.line, words_html(note.message));
    body += "</ul>\n</section>\n";
  }
  body += schedule_html(source, lines_of(finding));
  return html_page(title, body);
}

}  // namespace stave
