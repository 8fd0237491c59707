#include "workbench/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "profiles/store_reader.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

struct KindRule {
  std::string_view name;
  std::span<const std::string_view> endings;
  std::span<const std::string_view> marks;  // all stand in the first bytes of what Stave writes
};

constexpr std::string_view page_endings[] = {".html"}, picture_endings[] = {".svg"},
                           sarif_endings[] = {".sarif", ".json"}, array_endings[] = {".npy"};
constexpr std::string_view page_marks[] = {"<!DOCTYPE html>", "<meta name=\"generator\" content=\"Stave\">"};
constexpr std::string_view picture_marks[] = {"<svg xmlns=", " role=\"img\" font-family=", "<marker id=\"ordered\""};
constexpr std::string_view sarif_marks[] = {"sarif-2.1.0", "\"driver\"", "\"Stave\""};
constexpr std::string_view array_marks[] = {"\x93NUMPY"};
constexpr std::size_t head_of_output = 16384;

KindRule rule_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::Run: break;
    case OutputKind::Page: return {"page", page_endings, page_marks};
    case OutputKind::Picture: return {"picture", picture_endings, picture_marks};
    case OutputKind::Sarif: return {"SARIF file", sarif_endings, sarif_marks};
    case OutputKind::Array: return {"array", array_endings, array_marks};
  }
  return {"run file", {}, {}};
}

bool is_of_kind(const std::string& path, OutputKind kind) {
  if (kind == OutputKind::Run) return open_store(path).has_value();
  std::ifstream file(path, std::ios::binary);
  std::string head(head_of_output, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return std::ranges::all_of(rule_of(kind).marks,
                             [&](std::string_view mark) { return head.find(mark) != std::string::npos; });
}

}  // namespace

Result<void> check_output(const OutputName& output, bool replace, std::span<const std::string> inputs) {
  const KindRule rule = rule_of(output.kind);
  const std::string& path = output.path;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool there = fs::exists(status), device = there && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (device && output.kind == OutputKind::Run)
    return error_at({.file = path}, "STV0701", "a run file cannot be written to a device or pipe; name a file");
  if (path == "-" || device) return {};
  if (!rule.endings.empty() && std::ranges::none_of(rule.endings, [&](auto end) { return path.ends_with(end); }))
    return error_at({}, "STV0930", "{} {}: the name must end in {}", output.option, path,
                    fmt::join(rule.endings, " or "));
  for (const std::string& input : inputs)
    if (there && fs::equivalent(input, path, error))
      return error_at({.file = path}, "STV0975", "{} would replace what is read; name another file", output.option);
  if (replace || !fs::is_regular_file(status) || is_of_kind(path, output.kind)) return {};
  if (output.kind == OutputKind::Run)
    return error_at({.file = path}, "STV0913", "it exists and is no run file; --yes replaces it");
  return error_at({.file = path}, "STV0975", "it exists and is no {} that Stave made; --yes replaces it", rule.name);
}

}  // namespace stave
