#include "tests/file_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/base/files.h"

namespace stave {
namespace {

constexpr std::string_view run_mark = "// RUN:";
constexpr std::string_view check_mark = "// CHECK:";
constexpr std::size_t context_lines = 2;
// Above this many cells the diff shows two blocks instead of the shortest edit.
constexpr std::size_t max_diff_cells = 16'000'000;

// Takes one line off the front of `text`; the newline goes with it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(next_line(text));
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  constexpr std::string_view blank = " \t";
  while (true) {
    const std::size_t begin = line.find_first_not_of(blank);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(blank, begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

struct DiffLine {
  char sign;  // '-' only expected, '+' only actual, ' ' both
  const std::string* text;
};

// A shortest edit, from the table of longest common subsequences.
std::vector<DiffLine> shortest_edit(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<DiffLine> out;
  std::size_t i = 0;
  std::size_t j = 0;
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> common;
  if ((a.size() + 1) * width <= max_diff_cells) {
    common.resize((a.size() + 1) * width);
    for (std::size_t x = a.size(); x-- > 0;)
      for (std::size_t y = b.size(); y-- > 0;)
        common[x * width + y] = a[x] == b[y] ? common[(x + 1) * width + y + 1] + 1
                                             : std::max(common[(x + 1) * width + y], common[x * width + y + 1]);
  }
  while (!common.empty() && i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      out.push_back({' ', &a[i]});
      ++i;
      ++j;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      out.push_back({'-', &a[i++]});
    } else {
      out.push_back({'+', &b[j++]});
    }
  }
  while (i < a.size()) out.push_back({'-', &a[i++]});
  while (j < b.size()) out.push_back({'+', &b[j++]});
  return out;
}

bool starts_with_fail(std::string_view name) {
  return name.substr(name.rfind('/') + 1).starts_with("fail_");  // npos + 1 is 0
}

bool is_file_test(const std::string& text) {
  return text.starts_with(run_mark) || text.starts_with(check_mark) ||
         text.find("\n" + std::string(check_mark)) != std::string::npos;
}

}  // namespace

std::string_view FileTest::option(std::string_view key, std::string_view otherwise) const {
  for (const std::string& arg : args)
    if (arg.size() > key.size() && arg.starts_with(key) && arg[key.size()] == '=')
      return std::string_view(arg).substr(key.size() + 1);
  return otherwise;
}

Result<FileTest> parse_file_test(std::string path, std::string name, std::string_view text) {
  FileTest test{std::move(path), std::move(name), {}, {}, {}, {}};
  std::string_view rest = text;
  const std::string_view first = next_line(rest);
  if (!first.starts_with(run_mark))
    return error_at({test.name, 1, 1}, "", "the first line must start with \"// RUN:\"");
  test.args = words_of(first.substr(run_mark.size()));
  if (test.args.empty()) return error_at({test.name, 1, 1}, "", "\"// RUN:\" needs a mode after it");
  test.mode = test.args.front();
  test.args.erase(test.args.begin());

  rest = text;
  std::uint32_t number = 0;
  while (!rest.empty()) {
    const std::size_t start = text.size() - rest.size();
    std::string_view line = next_line(rest);
    ++number;
    if (line.starts_with(check_mark)) {
      if (test.input.empty()) test.input = text.substr(0, start);
      line.remove_prefix(check_mark.size());
      if (line.starts_with(' ')) line.remove_prefix(1);
      test.expected.emplace_back(line);
    } else if (!test.input.empty()) {
      return error_at({test.name, number, 1}, "", "the CHECK lines must be the last of the file");
    }
  }
  if (test.input.empty()) test.input = text;
  return test;
}

std::string updated_text(const FileTest& test, std::string_view output) {
  std::string text = test.input;
  if (!text.ends_with('\n')) text += '\n';
  for (const std::string& line : lines_of(output)) {
    text += check_mark;
    if (!line.empty()) text += ' ';
    text += line;
    text += '\n';
  }
  return text;
}

std::string line_diff(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  if (expected == actual) return "";
  const std::vector<DiffLine> diff = shortest_edit(expected, actual);
  std::vector<bool> shown(diff.size(), false);
  for (std::size_t i = 0; i < diff.size(); ++i)
    if (diff[i].sign != ' ')
      for (std::size_t k = i - std::min(i, context_lines); k < std::min(i + context_lines + 1, diff.size()); ++k)
        shown[k] = true;
  std::string out;
  for (std::size_t i = 0; i < diff.size(); ++i) {
    if (shown[i])
      out += fmt::format("{} {}\n", diff[i].sign, *diff[i].text);
    else if (i == 0 || shown[i - 1])
      out += "  ...\n";
  }
  return out;
}

std::string judge(const FileTest& test, std::string_view output) {
  if (output.empty()) return "it printed nothing, so it can prove nothing\n";
  std::string wrong;
  if (starts_with_fail(test.name) && output.find("error:") == std::string_view::npos)
    wrong += "a fail_ file must print a line with \"error:\"\n";
  const std::string diff = line_diff(test.expected, lines_of(output));
  if (!diff.empty()) wrong += "- is expected, + came out; --update accepts what came out\n" + diff;
  return wrong;
}

std::string run_file_test(const std::string& path, const std::string& name,
                          const std::map<std::string, TestMode>& modes, bool update) {
  const auto words = [](const Problems& problems) {
    std::string all;
    for (const Problem& problem : problems) all += to_text(problem);
    return all;
  };
  const Result<std::string> text = read_file(path);
  if (!text) return words(text.problems());
  Result<FileTest> parsed = parse_file_test(path, name, *text);
  if (!parsed) return words(parsed.problems());
  FileTest test = *std::move(parsed);
  const auto mode = modes.find(test.mode);
  if (mode == modes.end()) {
    std::string known;
    for (const auto& [word, run] : modes) known += " " + word;
    return fmt::format("no mode \"{}\"; there are:{}\n", test.mode, known);
  }
  const std::string output = mode->second(test);
  if (update) {
    const std::string updated = updated_text(test, output);
    test.expected = lines_of(output);
    if (updated != *text)
      if (const auto written = write_file(path, updated); !written) return words(written.problems());
  }
  return judge(test, output);
}

namespace {

class FileTestCase : public testing::Test {
 public:
  FileTestCase(std::string path, std::string name, const std::map<std::string, TestMode>& modes, bool update)
      : path_(std::move(path)), name_(std::move(name)), modes_(modes), update_(update) {}
  void TestBody() override {
    const std::string wrong = run_file_test(path_, name_, modes_, update_);
    if (!wrong.empty()) ADD_FAILURE_AT(path_.c_str(), 1) << wrong;
  }

 private:
  std::string path_;
  std::string name_;
  const std::map<std::string, TestMode>& modes_;
  bool update_;
};

}  // namespace

int run_file_tests(int argc, char** argv, const std::string& root, std::map<std::string, TestMode> modes) {
  testing::InitGoogleTest(&argc, argv);
  const char* wish = std::getenv("STAVE_UPDATE");
  bool update = wish != nullptr && std::string_view(wish) == "1";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--update") {
      std::fprintf(stderr, "unknown argument %s; there are --update and GoogleTest's\n", argv[i]);
      return 2;
    }
    update = true;
  }

  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(root, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().extension() == ".stave" && at->is_regular_file(failed))
      names.push_back(at->path().lexically_relative(root).generic_string());
  if (failed) {
    std::fprintf(stderr, "cannot walk %s: %s\n", root.c_str(), failed.message().c_str());
    return 2;
  }
  std::sort(names.begin(), names.end());
  std::size_t found = 0;
  for (const std::string& name : names) {
    const std::string path = (fs::path(root) / name).string();
    // An unreadable file is registered too: its test says why.
    if (const Result<std::string> text = read_file(path); text && !is_file_test(*text)) continue;
    ++found;
    testing::RegisterTest("FileTest", name.c_str(), nullptr, nullptr, path.c_str(), 1,
                          [=, &modes]() -> FileTestCase* { return new FileTestCase(path, name, modes, update); });
  }
  if (found == 0) {
    std::fprintf(stderr, "no test files below %s\n", root.c_str());
    return 2;
  }
  return RUN_ALL_TESTS();
}

}  // namespace stave
