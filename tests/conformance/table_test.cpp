// docs/conformance.md has all rows, and what it names is there.
#include <cctype>
#include <filesystem>
#include <sstream>

#include "core/base/files.h"
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

const std::string root = STAVE_SOURCE_DIR;

std::string content(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) ADD_FAILURE() << to_text(text.problems()[0]);
  return text ? *text : "";
}

std::vector<std::string> rows() {
  std::istringstream lines(content(root + "/docs/conformance.md"));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| ")) found.push_back(line);
  return found;
}

// The last cell of a table row.
std::string where(const std::string& row) {
  const std::size_t end = row.rfind(" |");
  return row.substr(0, end).substr(row.rfind(" | ", end - 1) + 3);
}

TEST(ConformanceTable, has_all_63_tests_in_order) {
  int next = 1;
  for (const std::string& row : rows())
    if (row.starts_with("| " + std::to_string(next) + " |")) ++next;
  EXPECT_EQ(next, 64);
}

TEST(ConformanceTable, names_files_and_tests_that_exist) {
  namespace fs = std::filesystem;
  std::string tests;
  for (const auto& entry : fs::directory_iterator(root + "/tests/conformance"))
    if (entry.path().extension() == ".cpp") tests += content(entry.path().string());
  int files = 0;
  int names = 0;
  for (const std::string& row : rows()) {
    bool quoted = false;
    std::string word;
    for (const char c : where(row) + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '*' || c == '/') {
        word += c;
        continue;
      }
      const bool file = word.ends_with(".cpp") || word.ends_with(".stave");
      if (quoted && file && word.find_first_of("*/") == std::string::npos) {
        ++files;
        EXPECT_TRUE(fs::exists(root + "/tests/conformance/" + word)) << row;
      }
      while (word.ends_with('.')) word.pop_back();
      if (!quoted && word.find('_') != std::string::npos) {
        ++names;
        EXPECT_TRUE(tests.find(", " + word + ")") != std::string::npos) << "no test " << word << ": " << row;
      }
      word.clear();
      if (c == '`') quoted = !quoted;
    }
  }
  EXPECT_GT(files, 60);
  EXPECT_GT(names, 60);
}

TEST(ExamplesTable, has_every_example) {
  const std::string table = content(root + "/examples/README.md");
  for (const std::string& name : example_names())
    EXPECT_NE(table.find("](" + name + ".stave)"), std::string::npos) << name;
}

}  // namespace
}  // namespace stave::conformance
