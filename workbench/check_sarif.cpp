#include "workbench/check_sarif.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <vector>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/sha256.h"
#include "workbench/check_codes.h"

namespace stave {
namespace {

// RFC 3986: all but unreserved characters and slashes as %XX.
std::string uri_of(const std::string& file) {
  std::filesystem::path path(file);
  if (path.is_absolute()) {
    std::error_code ignored;
    path = path.lexically_proximate(std::filesystem::current_path(ignored));
  }
  std::string out;
  for (const char c : path.lexically_normal().generic_string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::string_view("-._~/").find(c) < 5;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string_view line_of(std::string_view text, std::uint32_t line) {
  for (; line > 1; --line) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  return text.substr(0, text.find('\n'));
}

// Of a column that counts bytes: one that counts the characters of UTF-8.
std::uint32_t character_column(std::string_view text, std::uint32_t line, std::uint32_t column) {
  const std::string_view before = line_of(text, line).substr(0, column - 1);
  const auto continues = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) == 0x80; });
  return column - static_cast<std::uint32_t>(continues);
}

std::string_view level_of(Severity severity) { return name_of(severity); }  // SARIF has the same words

class Sarif {
 public:
  Sarif(std::span<const CheckedFile> files, std::string_view docs_uri) : files_(files), docs_uri_(docs_uri) {
    std::set<std::string> codes;
    for (const CheckCode& code : check_codes()) codes.emplace(code.code);
    for (const CheckedFile& file : files)
      for (const Finding& finding : file.report.findings) codes.insert(finding.problem.code);
    rules_.assign(codes.begin(), codes.end());
  }

  std::string document() && {
    json_.begin_object().field("$schema", "https://json.schemastore.org/sarif-2.1.0.json").field("version", "2.1.0");
    json_.key("runs").begin_array().begin_object();
    json_.key("tool").begin_object().key("driver").begin_object();
    json_.field("name", "Stave").field("semanticVersion", STAVE_VERSION);
    json_.key("rules").begin_array();
    for (const std::string& code : rules_) rule(code);
    json_.end_array().end_object().end_object();
    json_.key("invocations").begin_array().begin_object();
    const bool all_opened =
        std::all_of(files_.begin(), files_.end(), [](const CheckedFile& f) { return f.schedule.module != nullptr; });
    json_.field("executionSuccessful", all_opened).end_object().end_array();
    json_.field("columnKind", "unicodeCodePoints");
    json_.key("results").begin_array();
    for (const CheckedFile& file : files_)
      for (const Finding& finding : file.report.findings) result(file.schedule, finding);
    json_.end_array().end_object().end_array().end_object();
    return std::move(json_).finish();
  }

 private:
  void text(std::string_view key, std::string_view text) {
    json_.key(key).begin_object().field("text", text).end_object();
  }

  void rule(const std::string& code) {
    json_.begin_object().field("id", code);
    const CheckCode* known = find_check_code(code);
    if (!docs_uri_.empty())
      json_.field("helpUri", known ? fmt::format("{}checks.md#{}", docs_uri_, anchor_of(*known))
                                   : fmt::format("{}errors.md", docs_uri_));
    if (known == nullptr) {
      text("shortDescription", "a rule of the schedule language is broken");
      text("fullDescription", "The message names the rule and the value; docs/errors.md has a line for each code.");
    } else {
      text("shortDescription", known->title);
      text("fullDescription", known->meaning);
      text("help",
           fmt::format("{} docs/checks.md shows it in a schedule, and the schedule without it.", known->meaning));
    }
    json_.key("defaultConfiguration").begin_object();
    json_.field("level", level_of(known ? known->severity : Severity::Error)).end_object().end_object();
  }

  void location(const Schedule& schedule, const Place& place) {
    json_.key("physicalLocation").begin_object().key("artifactLocation").begin_object();
    json_.field("uri", uri_of(place.file.empty() ? schedule.file : place.file)).field("uriBaseId", "%SRCROOT%");
    json_.end_object();
    if (place.line != 0) {
      json_.key("region").begin_object().field("startLine", place.line);
      if (place.column != 0) json_.field("startColumn", column(schedule, place.line, place.column));
      if (place.end_line >= place.line && place.end_column != 0) {
        json_.field("endLine", place.end_line);
        json_.field("endColumn", column(schedule, place.end_line, place.end_column));
      }
      json_.end_object();
    }
    json_.end_object();
  }
  static std::uint32_t column(const Schedule& schedule, std::uint32_t line, std::uint32_t column) {
    return character_column(schedule.text, line, column);
  }

  void result(const Schedule& schedule, const Finding& finding) {
    const Problem& problem = finding.problem;
    json_.begin_object().field("ruleId", problem.code);
    json_.field("ruleIndex", std::lower_bound(rules_.begin(), rules_.end(), problem.code) - rules_.begin());
    json_.field("level", level_of(problem.severity));
    text("message", finding.fix.empty() ? problem.message : fmt::format("{}\nFix: {}.", problem.message, finding.fix));
    json_.key("locations").begin_array().begin_object();
    location(schedule, problem.place);
    if (!finding.command.empty()) {
      json_.key("logicalLocations").begin_array().begin_object();
      json_.field("fullyQualifiedName", finding.command).end_object().end_array();
    }
    json_.end_object().end_array();
    if (!problem.notes.empty()) related(schedule, problem.notes);
    // Stays what it is when lines move.
    json_.key("partialFingerprints").begin_object();
    json_.field("staveCommand/v1",
                sha256(problem.code + '\n' + uri_of(schedule.file) + '\n' + finding.command).substr(0, 32));
    json_.end_object();
    json_.key("suppressions").begin_array();
    if (!finding.silenced.empty())
      json_.begin_object().field("kind", "inSource").field("justification", finding.silenced).end_object();
    json_.end_array();
    json_.key("properties").begin_object().key("ranks").begin_array();
    for (const Rank rank : finding.ranks) json_.value(rank);
    json_.end_array().end_object().end_object();
  }

  void related(const Schedule& schedule, const std::vector<Note>& notes) {
    json_.key("relatedLocations").begin_array();
    for (std::size_t i = 0; i < notes.size(); ++i) {
      json_.begin_object().field("id", i + 1);
      location(schedule, notes[i].place);
      text("message", notes[i].message);
      json_.end_object();
    }
    json_.end_array();
  }

  std::span<const CheckedFile> files_;
  std::string_view docs_uri_;
  std::vector<std::string> rules_;
  JsonWriter json_;
};

}  // namespace

CheckedFile unopened(const std::string& path, const Problems& problems) {
  CheckedFile out;
  out.schedule.file = path;
  if (path != "-")
    if (const Result<std::string> text = read_file(path)) {
      out.schedule.text = *text;
      out.schedule.sha256 = sha256(*text);
    }
  for (const Problem& problem : problems) {
    out.report.findings.emplace_back().problem = problem;
    ++out.report.errors;
  }
  return out;
}

std::string check_sarif(std::span<const CheckedFile> files, std::string_view docs_uri) {
  return Sarif(files, docs_uri).document();
}

}  // namespace stave
