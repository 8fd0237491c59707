#include "workbench/scene_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "profiles/export/texts.h"
#include "workbench/check_codes.h"
#include "workbench/scene_layout.h"

namespace stave {
namespace {

using DrawnKind = Scene::Edge::Kind;
using DrawnState = Scene::Box::State;
using DrawnSide = SceneLayout::Side;

constexpr std::string_view sans = "system-ui, 'DejaVu Sans', sans-serif";
constexpr std::string_view mono = "ui-monospace, 'DejaVu Sans Mono', monospace";
constexpr std::string_view ink = "#1c2127", soft = "#58616c", red = "#c62828", dark = "#3b4650", grey = "#8a929b";
constexpr int least_width = 760, text_margin = 24, line_height = 19;

struct Stroke {
  std::string_view color, width, dash, marker;
};
Stroke stroke_of(DrawnKind kind) {
  switch (kind) {
    case DrawnKind::Ordered: return {dark, "1.6", "", "ordered"};
    case DrawnKind::WaitsFor: return {red, "2.2", "", "waits"};
    case DrawnKind::Meets: return {grey, "1.6", "", ""};
    case DrawnKind::Gap: return {red, "2.2", "7 5", ""};
  }
  return {};
}

std::string line_svg(const std::string& path, DrawnKind kind) {
  const Stroke s = stroke_of(kind);
  std::string out = fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}")", path, s.color, s.width);
  if (!s.dash.empty()) out += fmt::format(R"( stroke-dasharray="{}")", s.dash);
  if (!s.marker.empty()) out += fmt::format(" marker-end=\"url(#{})\"", s.marker);
  return out + "/>\n";
}

class SceneSvg {
 public:
  SceneSvg(const Finding& finding, std::string_view source)
      : finding_(finding), scene_(finding.scene), source_(source) {}

  std::string run() && {
    // The width decides how the text above breaks, which decides where the picture begins.
    width_ = std::max(scene_layout(scene_, source_, 0).width, least_width);
    heading();
    layout_ = scene_layout(scene_, source_, y_ + 6);
    lanes();
    for (const SceneLayout::Arrow& arrow : layout_.arrows) body_ += line_svg(path_of(arrow), arrow.kind);
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) box(i);
    y_ = layout_.bottom + 30;
    legend();
    ending();
    return frame();
  }

 private:
  // Without the marks around code, which are for terminals.
  void text(int x, int y, std::string_view words, std::string_view attributes) {
    std::string plain(words);
    std::erase(plain, '`');
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", x, y, attributes, xml_text(plain));
  }

  void paragraph(std::string_view words, std::string_view color) {
    for (const std::string& line : wrapped_lines(words, static_cast<std::size_t>(width_ - 2 * text_margin) / 7)) {
      text(text_margin, y_, line, fmt::format(R"(font-size="13" fill="{}")", color));
      y_ += line_height;
    }
  }

  void heading() {
    const CheckCode* code = find_check_code(finding_.problem.code);
    std::string title(code ? code->title : "a finding");
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    y_ = 36;
    text(text_margin, y_, title, fmt::format(R"(font-size="19" font-weight="600" fill="{}")", ink));
    y_ += 24;
    text(
        text_margin, y_,
        fmt::format("{}, line {}, {}", finding_.problem.place.file, finding_.problem.place.line, finding_.problem.code),
        fmt::format(R"(font-size="13" fill="{}")", soft));
    y_ += 26;
    if (code != nullptr) paragraph(code->meaning, ink);
  }

  void lanes() {
    for (const SceneLayout::Column& column : layout_.columns) {
      text(column.x, layout_.lanes_top - 36, fmt::format("rank {}", column.rank),
           fmt::format(R"(font-size="15" font-weight="600" fill="{}")", ink));
      for (const SceneLayout::Lane& lane : column.lanes) {
        body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="8" fill="#f1f3f5"/>)", lane.x,
                             layout_.lanes_top - 24, lane.w, layout_.bottom - layout_.lanes_top + 24);
        body_ += '\n';
        text(lane.x + 14, layout_.lanes_top - 4, lane.stream == "main" ? "main stream" : "stream " + lane.stream,
             fmt::format(R"(font-size="12" fill="{}")", soft));
      }
    }
  }

  static std::string path_of(const SceneLayout::Arrow& arrow) {
    const SceneLayout::End &a = arrow.from, &b = arrow.to;
    const auto is_level = [](DrawnSide side) { return side == DrawnSide::Left || side == DrawnSide::Right; };
    const auto away = [](const SceneLayout::End& end, int by) {
      const int x = end.side == DrawnSide::Left ? -by : end.side == DrawnSide::Right ? by : 0;
      const int y = end.side == DrawnSide::Top ? -by : end.side == DrawnSide::Bottom ? by : 0;
      return fmt::format("{} {}", end.x + x, end.y + y);
    };
    if (a.side == b.side && !is_level(a.side))  // over what stands between
      return fmt::format("M {} {} C {} {} {} {}", a.x, a.y, away(a, 40), away(b, 40), b.x, b.y);
    if (is_level(a.side) || is_level(b.side)) {
      const int by = std::max(24, std::abs(a.x - b.x) / 2);
      return fmt::format("M {} {} C {} {} {} {}", a.x, a.y, away(a, is_level(a.side) ? by : 30),
                         away(b, is_level(b.side) ? by : 30), b.x, b.y);
    }
    // Down or up: straight along rows, then across within one gap between rows.
    const int sign = a.y < b.y ? 1 : -1;
    const int turn = std::min(std::abs(b.y - a.y), scene_row_gap);
    const int begin = arrow.turns_late ? b.y - sign * turn : a.y;
    const int end = begin + sign * turn;
    // Without pieces of no length, which have no direction for the arrowhead.
    return fmt::format("M {} {}{} C {} {} {} {} {} {}{}", a.x, a.y,
                       begin == a.y ? "" : fmt::format(" L {} {}", a.x, begin), a.x, begin + sign * turn * 6 / 10, b.x,
                       end - sign * turn * 6 / 10, b.x, end, end == b.y ? "" : fmt::format(" L {} {}", b.x, b.y));
  }

  void box(std::size_t i) {
    const Scene::Box& box = scene_.boxes[i];
    const SceneLayout::Rect& r = layout_.boxes[i];
    const SceneLayout::BoxLines& lines = layout_.lines[i];
    const bool waits = box.state == DrawnState::Waiting;
    const bool apart = std::any_of(scene_.edges.begin(), scene_.edges.end(), [&](const Scene::Edge& edge) {
      return edge.kind == DrawnKind::Gap && (edge.from == i || edge.to == i);
    });
    const bool missing = box.state == DrawnState::NotStarted || box.state == DrawnState::Absent;
    body_ += fmt::format("<g><title>{}</title>\n", xml_text(box.command));
    body_ +=
        fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="{}" stroke="{}" stroke-width="{}"{}/>)",
                    r.x, r.y, r.w, r.h, waits ? "#fdecea" : "#ffffff",
                    waits || apart ? red
                    : missing      ? grey
                                   : dark,
                    waits || apart ? "1.8" : "1.2", missing ? R"( stroke-dasharray="5 4")" : "");
    body_ += '\n';
    const bool absent = box.state == DrawnState::Absent;
    text(r.x + 10, r.y + 20, absent ? fmt::format("no {}", lines.title) : lines.title,
         fmt::format(R"(font-size="13" font-weight="600" fill="{}")", missing ? soft : ink));
    if (box.line > 0)
      text(r.x + r.w - 10, r.y + 20, fmt::format("line {}", box.line),
           fmt::format(R"(font-size="12" text-anchor="end" fill="{}")", soft));
    text(r.x + 10, r.y + 38, lines.statement,
         fmt::format(R"(font-family="{}" font-size="11.5" fill="{}")", mono, soft));
    int y = r.y + (absent ? 40 : 58);
    for (const std::string& says : lines.says) {
      text(r.x + 10, y, says, fmt::format(R"(font-size="12" fill="{}")", waits || absent ? red : ink));
      y += 17;
    }
    body_ += "</g>\n";
  }

  void legend() {
    int x = text_margin;
    for (const DrawnKind kind : {DrawnKind::Ordered, DrawnKind::WaitsFor, DrawnKind::Gap, DrawnKind::Meets}) {
      if (std::none_of(layout_.arrows.begin(), layout_.arrows.end(), [&](const auto& a) { return a.kind == kind; }))
        continue;
      const std::string words = kind == DrawnKind::Ordered    ? "ends before the other begins"
                                : kind == DrawnKind::WaitsFor ? "waits for"
                                : kind == DrawnKind::Meets    ? "have met"
                                                              : scene_.gap;
      const int wide = 64 + static_cast<int>(words.size()) * 7;
      if (x + wide > width_ && x > text_margin) {
        x = text_margin;
        y_ += 22;
      }
      body_ += line_svg(fmt::format("M {} {} L {} {}", x, y_ - 4, x + 36, y_ - 4), kind);
      text(x + 46, y_, words, fmt::format(R"(font-size="12.5" fill="{}")", soft));
      x += wide;
    }
    y_ += 26;
  }

  void ending() {
    if (scene_.left_out > 0)
      paragraph(fmt::format("{} more rank{} not drawn.", scene_.left_out, scene_.left_out == 1 ? " is" : "s are"),
                soft);
    if (!finding_.fix.empty()) paragraph(fmt::format("Fix: {}.", finding_.fix), ink);
  }

  std::string frame() const {
    const auto marker = [](std::string_view id, std::string_view color) {
      return fmt::format(
          "<marker id=\"{}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" "
          "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
          "<path d=\"M 0 0 L 10 5 L 0 10 z\" fill=\"{}\"/></marker>\n",
          id, color);
    };
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "font-family=\"{2}\">\n",
        width_, y_, sans);
    out += fmt::format("<title>{}</title>\n", xml_text(finding_.problem.message));
    out += "<defs>\n" + marker("ordered", dark) + marker("waits", red) + "</defs>\n";
    out += fmt::format("<rect width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#ffffff\"/>\n", width_, y_);
    return out + body_ + "</svg>\n";
  }

  const Finding& finding_;
  const Scene& scene_;
  std::string_view source_;
  SceneLayout layout_;
  std::string body_;
  int width_ = 0, y_ = 0;
};

}  // namespace

std::string scene_svg(const Finding& finding, std::string_view source) { return SceneSvg(finding, source).run(); }

}  // namespace stave
