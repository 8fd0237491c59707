#include "workbench/scene_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stave {
namespace {

using EdgeKind = Scene::Edge::Kind;
using BoxSide = SceneLayout::Side;

constexpr int margin = 24;
constexpr int rank_header = 34, lane_header = 26;
constexpr int box_width = 296, lane_padding = 14, column_gap = 36;
constexpr int box_head = 50, says_height = 17;
// A letter of 12 px text is at most 7 px on average, one of 11.5 px monospace text 7 px.
constexpr std::size_t box_letters = (box_width - 20) / 7;
// Bold; beside it stands "line 12".
constexpr std::size_t title_letters = (box_width - 78) / 8;

std::string statement_at(std::string_view source, std::uint32_t line) {
  if (line == 0) return {};
  for (; line > 1; --line) {
    const std::size_t newline = source.find('\n');
    if (newline == std::string_view::npos) return {};
    source.remove_prefix(newline + 1);
  }
  source = source.substr(0, source.find('\n'));
  const std::size_t begin = source.find_first_not_of(" \t"), end = source.find_last_not_of(" \t\r{");
  return begin == std::string_view::npos || end == std::string_view::npos || end < begin
             ? std::string()
             : std::string(source.substr(begin, end - begin + 1));
}

// Cuts at characters, not inside one.
std::string shortened(const std::string& text, std::size_t letters) {
  if (text.size() <= letters) return text;
  std::size_t end = letters - 1;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}
// Without as many of its first elements as it takes.
std::string shortened_path(const std::string& path) {
  if (path.size() <= title_letters) return path;
  std::size_t slash = path.find('/');
  while (slash != std::string::npos && path.size() - slash + 1 > title_letters) {
    const std::size_t next = path.find('/', slash + 1);
    if (next == std::string::npos) break;
    slash = next;
  }
  if (slash == std::string::npos) return shortened(path, title_letters);
  return "…" + shortened(path.substr(slash), title_letters - 1);
}

class Layout {
 public:
  Layout(const Scene& scene, std::string_view source) : scene_(scene) {
    for (const Scene::Box& box : scene.boxes) {
      out_.lines.push_back({shortened_path(box.command), shortened(statement_at(source, box.line), box_letters),
                            wrapped_lines(box.says, box_letters)});
    }
  }

  SceneLayout run(int top) && {
    columns();
    out_.lanes_top = top + rank_header + lane_header;
    rows();
    for (std::uint32_t i = 0; i < scene_.boxes.size(); ++i) orders_within_a_stream(i);
    for (const Scene::Edge& edge : scene_.edges)
      if (edge.kind != EdgeKind::Ordered || !within_a_stream(edge.from, edge.to)) connect(edge);
    spread();
    straighten();
    return std::move(out_);
  }

 private:
  void columns() {
    for (const Scene::Box& box : scene_.boxes) {
      auto column =
          std::find_if(out_.columns.begin(), out_.columns.end(), [&](const auto& c) { return c.rank == box.rank; });
      if (column == out_.columns.end()) column = out_.columns.insert(column, {.rank = box.rank});
      if (lane_in(*column, box.stream) == nullptr) column->lanes.push_back({.stream = box.stream});
    }
    std::sort(out_.columns.begin(), out_.columns.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    int x = margin;
    for (SceneLayout::Column& column : out_.columns) {
      // The main stream first, then as they are used.
      std::stable_partition(column.lanes.begin(), column.lanes.end(),
                            [](const auto& lane) { return lane.stream == "main"; });
      column.x = x;
      for (SceneLayout::Lane& lane : column.lanes) {
        lane.x = x;
        lane.w = box_width + 2 * lane_padding;
        x += lane.w + 8;
      }
      column.w = x - 8 - column.x;
      x += column_gap - 8;
    }
    out_.width = x - column_gap + margin;
  }

  static const SceneLayout::Lane* lane_in(const SceneLayout::Column& column, const std::string& stream) {
    for (const SceneLayout::Lane& lane : column.lanes)
      if (lane.stream == stream) return &lane;
    return nullptr;
  }

  // The n-th boxes of all ranks stand in one row.
  void rows() {
    std::map<Rank, int> next;
    std::vector<int> heights;
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      const int row = next[scene_.boxes[i].rank]++;
      row_of_.push_back(row);
      heights.resize(std::max<std::size_t>(heights.size(), static_cast<std::size_t>(row) + 1), box_head);
      int& height = heights[static_cast<std::size_t>(row)];
      const int says = static_cast<int>(out_.lines[i].says.size());
      height = std::max(height, box_head + says * says_height + (says > 0 ? 4 : 0));
    }
    std::vector<int> tops;
    int y = out_.lanes_top + 30;
    for (const int height : heights) {
      tops.push_back(y);
      y += height + scene_row_gap;
    }
    out_.bottom = y - scene_row_gap + 20;
    for (std::size_t i = 0; i < scene_.boxes.size(); ++i) {
      const Scene::Box& box = scene_.boxes[i];
      const auto column =
          std::find_if(out_.columns.begin(), out_.columns.end(), [&](const auto& c) { return c.rank == box.rank; });
      const auto row = static_cast<std::size_t>(row_of_[i]);
      out_.boxes.push_back({lane_in(*column, box.stream)->x + lane_padding, tops[row], box_width, heights[row]});
    }
  }

  bool within_a_stream(std::uint32_t a, std::uint32_t b) const {
    return scene_.boxes[a].rank == scene_.boxes[b].rank && scene_.boxes[a].stream == scene_.boxes[b].stream;
  }

  void orders_within_a_stream(std::uint32_t box) {
    if (scene_.boxes[box].state == Scene::Box::State::Absent) return;
    for (std::uint32_t before = box; before-- > 0;)
      if (within_a_stream(before, box)) return connect({EdgeKind::Ordered, before, box});
  }

  // True if nothing stands in the lane of `box` in the rows between.
  bool free_beside(std::uint32_t box, int first_row, int last_row) const {
    for (std::uint32_t i = 0; i < scene_.boxes.size(); ++i)
      if (within_a_stream(i, box) && row_of_[i] > first_row && row_of_[i] < last_row) return false;
    return true;
  }

  void connect(const Scene::Edge& edge) {
    const SceneLayout::Rect &a = out_.boxes[edge.from], &b = out_.boxes[edge.to];
    const int from = row_of_[edge.from], to = row_of_[edge.to];
    BoxSide leaves = BoxSide::Bottom, enters = BoxSide::Top;
    if (from == to) {
      leaves = a.x < b.x ? BoxSide::Right : BoxSide::Left;
      enters = a.x < b.x ? BoxSide::Left : BoxSide::Right;
      if (between(from, std::min(a.x, b.x), std::max(a.x, b.x))) leaves = enters = BoxSide::Top;
    } else if (from > to) {
      std::swap(leaves, enters);
    }
    if (edge.kind == EdgeKind::Gap && from != to && a.x != b.x) {
      leaves = a.x < b.x ? BoxSide::Right : BoxSide::Left;
      enters = from < to ? BoxSide::Top : BoxSide::Bottom;
      if (from < to && !free_beside(edge.to, from - 1, to)) enters = a.x < b.x ? BoxSide::Left : BoxSide::Right;
    }
    out_.arrows.push_back(
        {edge.kind, {leaves, 0, 0}, {enters, 0, 0}, free_beside(edge.from, std::min(from, to), std::max(from, to))});
    ends_.push_back({edge.from, edge.to});
  }

  bool between(int row, int left, int right) const {
    for (std::size_t i = 0; i < out_.boxes.size(); ++i)
      if (row_of_[i] == row && out_.boxes[i].x > left && out_.boxes[i].x < right) return true;
    return false;
  }

  // Arrows at one side of a box share it, in the order of where they lead.
  void spread() {
    struct Port {
      SceneLayout::End* end;
      int towards;
    };
    std::map<std::pair<std::uint32_t, BoxSide>, std::vector<Port>> ports;
    const auto centre = [&](std::uint32_t box, BoxSide side) {
      const SceneLayout::Rect& r = out_.boxes[box];
      return side == BoxSide::Top || side == BoxSide::Bottom ? r.x + r.w / 2 : r.y + r.h / 2;
    };
    for (std::size_t i = 0; i < out_.arrows.size(); ++i) {
      SceneLayout::Arrow& arrow = out_.arrows[i];
      const auto [from, to] = ends_[i];
      ports[{from, arrow.from.side}].push_back({&arrow.from, centre(to, arrow.from.side)});
      ports[{to, arrow.to.side}].push_back({&arrow.to, centre(from, arrow.to.side)});
    }
    for (auto& [at, all] : ports) {
      std::stable_sort(all.begin(), all.end(), [](const Port& a, const Port& b) { return a.towards < b.towards; });
      const SceneLayout::Rect& r = out_.boxes[at.first];
      const int parts = static_cast<int>(all.size()) + 1;
      for (int i = 1; i < parts; ++i) {
        SceneLayout::End& end = *all[static_cast<std::size_t>(i) - 1].end;
        const bool level = at.second == BoxSide::Top || at.second == BoxSide::Bottom;
        end.x = level ? r.x + r.w * i / parts : at.second == BoxSide::Left ? r.x : r.x + r.w;
        end.y = level ? (at.second == BoxSide::Top ? r.y : r.y + r.h) : r.y + r.h * i / parts;
      }
    }
  }

  // Within a lane an arrow that has one of its ends for itself goes straight.
  void straighten() {
    std::map<std::pair<std::uint32_t, BoxSide>, int> ports;
    for (std::size_t i = 0; i < out_.arrows.size(); ++i) {
      ++ports[{ends_[i].first, out_.arrows[i].from.side}];
      ++ports[{ends_[i].second, out_.arrows[i].to.side}];
    }
    for (std::size_t i = 0; i < out_.arrows.size(); ++i) {
      SceneLayout::Arrow& arrow = out_.arrows[i];
      const auto [from, to] = ends_[i];
      if (!within_a_stream(from, to)) continue;
      if (ports[{from, arrow.from.side}] == 1)
        arrow.from.x = arrow.to.x;
      else if (ports[{to, arrow.to.side}] == 1)
        arrow.to.x = arrow.from.x;
    }
  }

  const Scene& scene_;
  std::vector<int> row_of_;                                      // by box
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends_{};  // by arrow
  SceneLayout out_;
};

}  // namespace

std::vector<std::string> wrapped_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    if (lines.empty() || lines.back().size() + 1 + word.size() > width)
      lines.emplace_back(word);
    else
      lines.back() += fmt::format(" {}", word);
  }
  return lines;
}

SceneLayout scene_layout(const Scene& scene, std::string_view source, int top) {
  return Layout(scene, source).run(top);
}

}  // namespace stave
