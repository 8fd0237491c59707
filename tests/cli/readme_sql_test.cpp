// README.md does what it says: its tour runs, line by line, and its queries, run by
// the sqlite3 program on a run that `stave sim` made, give the numbers of
// `stave report --json`.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

// The statements of the ```sql block, in order.
std::vector<std::string> readme_queries() {
  const std::string page = file_text(STAVE_SOURCE_DIR "/README.md");
  const std::size_t begin = page.find("```sql\n"), end = page.find("```", begin + 7);
  std::vector<std::string> queries;
  std::string query;
  for (const char c : begin == std::string::npos ? "" : page.substr(begin + 7, end - begin - 7)) {
    query += c;
    if (c != ';') continue;
    queries.push_back(query);
    query.clear();
  }
  return queries;
}

class ReadmeSql : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v sqlite3 >/dev/null 2>&1") != 0) GTEST_SKIP() << "sqlite3 is not installed";
    ASSERT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
    report_ = stave_({"report", "ring.sqlite", "--json"}).out;
    ASSERT_EQ(readme_queries().size(), 3u);
  }
  // Cells of a query's rows, with '|' between them.
  std::string answer(std::size_t query) const {
    write_text(stave_ / "query.sql", readme_queries()[query]);
    const std::string command = "cd " + quoted_for_shell(stave_.folder().path()) +
                                " && sqlite3 -readonly -noheader -list ring.sqlite <query.sql >answer 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return file_text(stave_ / "answer");
  }
  // The same of a query over the report.
  std::string reported(const std::string& sql) const {
    std::string out;
    const Json json(report_);
    for (const Json::Row& row : json.rows(sql)) {
      for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "|" : "") + row[i];
      out += '\n';
    }
    return out;
  }

  Program stave_;
  std::string report_;
};

TEST_F(ReadmeSql, TimeByNameIsTheReportsTable) {
  EXPECT_EQ(answer(0), reported("SELECT value->>'name', value->>'calls_count', (value->>'total_ps') / 1e6 "
                                "FROM json_each(?1, '$.kernels')"));
}

TEST_F(ReadmeSql, BusyStreamsAreTheReportsStreams) {
  EXPECT_EQ(answer(1),
            reported("SELECT r.value->>'rank', s.value->>'stream', s.value->>'commands_count', "
                     "(s.value->>'busy_ps') / 1e6 FROM json_each(?1, '$.ranks') r, json_each(r.value, '$.streams') s "
                     "ORDER BY 1, 2"));
}

TEST_F(ReadmeSql, WaitsOfCollectivesAreTheReports) {
  EXPECT_EQ(
      answer(2),
      reported("SELECT value->>'op', value->>'communicator', value->>'sequence', value->>'bytes', "
               "(value->>'arrival_wait_ps') / 1e6, (value->>'transfer_ps') / 1e6 FROM json_each(?1, '$.collectives')"));
}

TEST(ReadmeTour, EachLineRuns) {
  const std::string page = file_text(STAVE_SOURCE_DIR "/README.md");
  const std::size_t tour = page.find("## A tour"), begin = page.find("```\n", tour), end = page.find("\n```", begin);
  ASSERT_NE(end, std::string::npos);
  std::istringstream lines(page.substr(begin + 4, end - begin - 3));
  const Program stave;
  int ran = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream text(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    ASSERT_FALSE(words.empty());
    if (words[0] == "stave-gui") {
      for (std::size_t i = 1; i < words.size(); ++i) EXPECT_TRUE(std::filesystem::exists(stave / words[i])) << line;
      continue;
    }
    EXPECT_EQ(words[0], "stave") << line;
    const Ran got = stave({words.begin() + 1, words.end()});
    EXPECT_EQ(got.exit, 0) << line << "\n" << got.err;
    ++ran;
  }
  EXPECT_GE(ran, 14);
}

}  // namespace
}  // namespace stave
