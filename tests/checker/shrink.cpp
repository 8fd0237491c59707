#include "tests/checker/shrink.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

namespace stave {

namespace {

using Lines = std::vector<std::string>;

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}
bool opens(const std::string& line) { return line.ends_with("{"); }
bool closes(const std::string& line) { return trimmed(line).starts_with("}"); }

// The line that closes, or goes on with another region of, the block that opens here.
std::size_t end_of_region(const Lines& lines, std::size_t at) {
  int depth = 1;
  while (++at < lines.size()) {
    if (closes(lines[at]) && --depth == 0) return at;
    if (opens(lines[at])) ++depth;
  }
  return lines.size() - 1;
}
std::size_t end_of_block(const Lines& lines, std::size_t at) {
  do at = end_of_region(lines, at);
  while (opens(lines[at]));
  return at;
}

std::set<std::size_t> span(std::size_t first, std::size_t last) {
  std::set<std::size_t> out;
  for (std::size_t i = first; i <= last; ++i) out.insert(i);
  return out;
}

// What may go together, starting at this line; the largest first.
std::vector<std::set<std::size_t>> cuts_at(const Lines& lines, std::size_t at) {
  std::vector<std::set<std::size_t>> cuts;
  const std::string line = trimmed(lines[at]);
  if (line.empty() || line.starts_with("stave") || line == "}" || line == ") {") return cuts;
  const auto with_done = [&](std::set<std::size_t> cut) {
    const std::size_t is = line.find(" = async_start");
    if (is == std::string::npos) return cut;
    for (std::size_t i = at + 1; i < lines.size(); ++i)
      if (trimmed(lines[i]) == "async_done " + line.substr(0, is)) {
        cut.insert(i);
        break;
      }
    return cut;
  };
  if (!opens(lines[at]) || line.starts_with("func")) {
    if (line.starts_with("func")) return cuts;
    cuts.push_back({at});
    return cuts;
  }
  if (line.starts_with("}")) {  // a region that is not the first
    const std::size_t end = end_of_region(lines, at);
    cuts.push_back(span(at, end - 1));
    return cuts;
  }
  const std::size_t end = end_of_block(lines, at);
  cuts.push_back(with_done(span(at, end)));
  std::set<std::size_t> borders{at, end};
  for (std::size_t i = end_of_region(lines, at); i != end; i = end_of_region(lines, i)) borders.insert(i);
  cuts.push_back(with_done(borders));
  return cuts;
}

// The same lines of a second function, where it has them.
std::set<std::size_t> with_twin(const Lines& lines, const std::set<std::size_t>& cut) {
  std::set<std::size_t> out = cut;
  std::size_t from = *cut.rbegin() + 1;
  while (from < lines.size() && !lines[from].starts_with("func")) ++from;
  for (const std::size_t i : cut) {
    std::size_t at = from;
    while (at < lines.size() && lines[at] != lines[i]) ++at;
    if (at == lines.size()) return cut;
    out.insert(at);
    from = at + 1;
  }
  return out;
}

std::string joined(const Lines& lines, const std::set<std::size_t>& without) {
  Lines kept;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!without.contains(i)) kept.push_back(lines[i]);
  std::string text;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i + 1 < kept.size() && kept[i + 1] == ") {" && kept[i].ends_with(",")) kept[i].pop_back();
    text += kept[i] + "\n";
  }
  return text;
}

}  // namespace

std::string shrink(std::string text, const std::function<bool(const std::string&)>& keeps) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    for (std::size_t at = 0; at < lines.size() && !smaller; ++at)
      for (const std::set<std::size_t>& cut : cuts_at(lines, at)) {
        std::string less = joined(lines, with_twin(lines, cut));
        if (!keeps(less)) less = joined(lines, cut);
        if (!keeps(less)) continue;
        text = std::move(less);
        smaller = true;
        break;
      }
  }
  return text;
}

}  // namespace stave
