// docs/checks.md has a section for each code; its schedules give what it says.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "tests/workbench/schedule_of.h"
#include "workbench/check.h"
#include "workbench/check_codes.h"

namespace stave {
namespace {

struct Example {
  std::string code;  // of its section; empty: before the first
  std::string kind;  // bad, good or silenced
  Mode mode = Mode::Eager;
  std::string text;
};

struct ChecksPage {
  std::vector<std::string> titles;
  std::vector<Example> examples;
  std::map<std::string, std::string> allowances;  // by code: the comment that silences it
};

ChecksPage read_page() {
  static const std::regex title("### (STV[0-9]{4}): .*"), fence("```stave (\\w+)(?: mode=(\\w+))?"),
      allowance("Silence: `(// allow STV[0-9]{4}: [^`]+)`.*");
  ChecksPage page;
  const Result<std::string> text = read_file(STAVE_SOURCE_DIR "/docs/checks.md");
  EXPECT_TRUE(text);
  std::istringstream lines(text ? *text : "");
  std::string code;
  bool inside = false;
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (inside) {
      inside = line != "```";
      if (inside) page.examples.back().text += line + '\n';
    } else if (std::regex_match(line, found, title)) {
      code = found[1];
      page.titles.push_back(line.substr(4));
    } else if (std::regex_match(line, found, fence)) {
      page.examples.push_back({code, found[1], mode_named(found[2].str()).value_or(Mode::Eager), {}});
      inside = true;
    } else if (std::regex_match(line, found, allowance)) {
      page.allowances[code] = found[1];
    }
  }
  return page;
}

std::set<std::string> counted_codes(const CheckReport& report) {
  std::set<std::string> codes;
  for (const Finding& finding : report.findings)
    if (finding.silenced.empty()) codes.insert(finding.problem.code);
  return codes;
}

CheckReport report_of(const Example& example, std::string text) {
  return *check_schedule(schedule_of(std::move(text)), {}, example.mode);
}

std::string with_line_before(const std::string& text, std::uint32_t number, const std::string& added) {
  std::string out;
  std::istringstream lines(text);
  std::uint32_t at = 0;
  for (std::string line; std::getline(lines, line);) out += (++at == number ? added + '\n' : "") + line + '\n';
  return out;
}

TEST(ChecksPage, HasASectionForEachCode) {
  std::vector<std::string> titles;
  for (const CheckCode& code : check_codes()) titles.push_back(fmt::format("{}: {}", code.code, code.title));
  EXPECT_EQ(read_page().titles, titles);
}

TEST(ChecksPage, LinksToItsSections) {
  EXPECT_EQ(anchor_of(*find_check_code("STV1001")), "stv1001-a-race");
  const Result<std::string> page = read_file(STAVE_SOURCE_DIR "/docs/checks.md");
  ASSERT_TRUE(page);
  std::set<std::string> anchors;
  for (const CheckCode& code : check_codes()) anchors.insert(anchor_of(code));
  static const std::regex link(R"(\]\(#(stv[^)]*)\))");
  int links = 0;
  for (std::sregex_iterator at(page->begin(), page->end(), link), end; at != end; ++at, ++links)
    EXPECT_TRUE(anchors.contains((*at)[1])) << (*at)[1];
  EXPECT_GT(links, 0);
}

TEST(ChecksPage, BadSchedulesGiveTheirCodeAndGoodOnesNone) {
  const ChecksPage page = read_page();
  std::map<std::string, int> bad, good;
  for (const Example& example : page.examples) {
    const CheckReport report = report_of(example, example.text);
    std::set<std::string> expected;
    if (example.kind == "bad") expected = {example.code};
    EXPECT_EQ(counted_codes(report), expected) << example.kind << ' ' << example.code << '\n' << example.text;
    if (example.kind == "silenced") {
      EXPECT_GT(report.silenced, 0);
    }
    ++(example.kind == "bad" ? bad : good)[example.code];
    for (const Finding& finding : report.findings)
      if (const CheckCode* code = find_check_code(finding.problem.code)) {
        EXPECT_EQ(finding.problem.severity, code->severity) << finding.problem.code;
      }
  }
  for (const CheckCode& code : check_codes()) {
    EXPECT_EQ(bad[std::string(code.code)], 1) << code.code;
    EXPECT_EQ(good[std::string(code.code)], 1) << code.code;
  }
}

TEST(ChecksPage, TheCommentOfASectionSilencesItsSchedule) {
  const ChecksPage page = read_page();
  EXPECT_EQ(page.allowances.size(), check_codes().size() - 3);  // not what is about the check itself
  for (const Example& example : page.examples) {
    const auto allowance = page.allowances.find(example.code);
    if (example.kind != "bad" || allowance == page.allowances.end()) continue;
    std::string text = example.text;
    // From below, so that lines above stay where they are.
    const CheckReport report = report_of(example, text);
    for (auto finding = report.findings.rbegin(); finding != report.findings.rend(); ++finding)
      text = with_line_before(text, finding->problem.place.line, allowance->second);
    EXPECT_EQ(report_of(example, text).verdict(), "clean") << text;
  }
}

}  // namespace
}  // namespace stave
