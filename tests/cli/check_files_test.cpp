// `stave check --sarif` and `--explain`: what is in the files, and when they are written.
#include <gtest/gtest.h>

#include <regex>

#include "tests/cli/program.h"

namespace stave {
namespace {

constexpr const char* both_send_first =
    "stave 1\nmesh x = 2\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n"
    "  send %a (axis = x, peer = 1 - axis_index(x))\n"
    "  recv -> %b (axis = x, peer = 1 - axis_index(x))\n}\n";
constexpr const char* silenced =
    "stave 1\nfunc @f(%a: inout f32[4]) {\n  %t = async_start (stream = computation 0) {\n    memzero -> %a\n  }\n"
    "  async_done %t // allow STV1042: \"as it was\"\n}\n";

class CheckFiles : public ::testing::Test {
 protected:
  CheckFiles() {
    write_text(stave_ / "a file.stave", both_send_first);
    write_text(stave_ / "silenced.stave", silenced);
    write_text(stave_ / "no_text.stave", "stave 1\nfunc f(\n");
    write_text(stave_ / "good.stave", "stave 1\nfunc @f(%a: out f32[4]) {\n  memzero -> %a\n}\n");
  }
  Json written(const std::string& name) const { return Json(file_text(stave_ / name)); }
  bool exists(const std::string& name) const { return std::filesystem::exists(stave_ / name); }

  Program stave_;
};

constexpr const char* results =
    "SELECT json_extract(value, '$.ruleId'), json_extract(value, '$.level'), "
    "json_extract(value, '$.locations[0].physicalLocation.artifactLocation.uri'), "
    "json_extract(value, '$.suppressions[0].justification') FROM json_each(?1, '$.runs[0].results')";

TEST_F(CheckFiles, SarifHasTheResultsOfAllFiles) {
  EXPECT_EQ(stave_({"check", "a file.stave", "silenced.stave", "no_text.stave", "--sarif", "all.sarif"}).exit, 2);
  const Json sarif = written("all.sarif");
  ASSERT_TRUE(sarif.valid());
  EXPECT_EQ(sarif.rows(results), (std::vector<Json::Row>{{"STV1020", "error", "a%20file.stave", "NULL"},
                                                         {"STV1042", "warning", "silenced.stave", "\"as it was\""},
                                                         {"STV0106", "error", "no_text.stave", "NULL"}}));
  EXPECT_EQ(sarif.at("$.runs[0].invocations[0].executionSuccessful"), "0");
  EXPECT_FALSE(exists("all.sarif.partial"));
}

TEST_F(CheckFiles, SarifColumnsCountCharacters) {
  write_text(stave_ / "a.stave",
             "stave 1\nfunc @f(%a: out f32[4]) {\n  memzero -> %a // \xc3\xa4 // allow STV1001: no\n}\n");
  EXPECT_EQ(stave_({"check", "a.stave", "--sarif", "a.sarif"}).exit, 0);
  EXPECT_EQ(written("a.sarif").at("$.runs[0].results[0].locations[0].physicalLocation.region.startColumn"), "22");
}

TEST_F(CheckFiles, SarifHasPlacesNotesAndFixes) {
  EXPECT_EQ(stave_({"check", stave_ / "a file.stave", "--sarif", "one.sarif", "--json"}).exit, 1);
  const Json sarif = written("one.sarif");
  const std::string result = "$.runs[0].results[0]";
  EXPECT_EQ(sarif.at(result + ".locations[0].physicalLocation.artifactLocation.uri"), "a%20file.stave");
  EXPECT_EQ(sarif.at(result + ".locations[0].physicalLocation.region.startColumn"), "3");
  EXPECT_EQ(sarif.at(result + ".locations[0].logicalLocations[0].fullyQualifiedName"), "f/send#1");
  EXPECT_EQ(sarif.at(result + ".relatedLocations[0].physicalLocation.region.startLine"), "5");
  EXPECT_NE(sarif.at(result + ".message.text").find("\nFix: put the send"), std::string::npos);
  EXPECT_EQ(sarif.at("$.runs[0].invocations[0].executionSuccessful"), "1");
}

// What the text of SARIF 2.1.0 requires of the objects that are used here.
TEST_F(CheckFiles, SarifHasWhatItsTextRequires) {
  stave_({"check", "a file.stave", "silenced.stave", "no_text.stave", "--sarif", "all.sarif"});
  const Json sarif = written("all.sarif");
  EXPECT_EQ(sarif.at("$.version"), "2.1.0");                   // 3.13.2
  EXPECT_EQ(sarif.at("$.runs[0].tool.driver.name"), "Stave");  // 3.19.8
  EXPECT_EQ(sarif.at("$.runs[0].columnKind"), "unicodeCodePoints");
  const auto count = [&](const std::string& sql) { return sarif.one("SELECT count(*) " + sql); };
  const std::string each_result = "FROM json_each(?1, '$.runs[0].results') r WHERE ";
  EXPECT_EQ(count(each_result + "json_extract(value, '$.message.text') IS NULL"), "0");  // 3.27.11, 3.11.8
  // 3.27.6: an index is that of the rule of the id.
  EXPECT_EQ(count("FROM json_each(?1, '$.runs[0].results') r JOIN json_each(?1, '$.runs[0].tool.driver.rules') d ON "
                  "d.key = json_extract(r.value, '$.ruleIndex') WHERE json_extract(d.value, '$.id') = "
                  "json_extract(r.value, '$.ruleId')"),
            count("FROM json_each(?1, '$.runs[0].results')"));
  EXPECT_EQ(
      count("FROM (SELECT DISTINCT json_extract(value, '$.id') FROM json_each(?1, '$.runs[0].tool.driver.rules'))"),
      count("FROM json_each(?1, '$.runs[0].tool.driver.rules')"));  // 3.19.23
  // 3.27.23: suppressions on all results or on none; 3.35.2: each has a kind.
  EXPECT_EQ(count(each_result + "json_type(value, '$.suppressions') IS NOT 'array'"), "0");
  EXPECT_EQ(count("FROM json_tree(?1) WHERE key = 'suppressions' AND json_array_length(value) > 0 AND "
                  "json_extract(value, '$[0].kind') <> 'inSource'"),
            "0");
  // 3.30: lines and columns count from 1, an end is not before its start.
  EXPECT_EQ(count("FROM json_tree(?1) WHERE key = 'region' AND (json_extract(value, '$.startLine') < 1 OR "
                  "json_extract(value, '$.startColumn') < 1 OR json_extract(value, '$.endLine') < "
                  "json_extract(value, '$.startLine'))"),
            "0");
  EXPECT_EQ(count("FROM json_tree(?1) WHERE key = 'uri' AND (value LIKE '/%' OR value LIKE '% %')"), "0");  // 3.10
}

TEST_F(CheckFiles, SarifIsWhatItsSchemaSays) {
  if (std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 with jsonschema (Debian: python3-jsonschema) is not installed";
  stave_({"check", "a file.stave", "silenced.stave", "no_text.stave", "--sarif", "all.sarif"});
  const std::string command =
      "python3 -c 'import json, sys, jsonschema\n"
      "jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' " +
      quoted_for_shell(stave_ / "all.sarif") + " " STAVE_SOURCE_DIR "/docs/json/sarif.schema.json";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(CheckFiles, ExplainDrawsTheFirstDeadlock) {
  EXPECT_EQ(stave_({"check", "silenced.stave", "a file.stave", "--explain", "why.svg"}).exit, 1);
  const std::string svg = file_text(stave_ / "why.svg");
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 100);
  for (const char* part : {"A deadlock", "rank 0", "rank 1", "waits for rank 0", "comes after send#1, so never"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  for (const char* foreign : {"href", "http://", "<style", "<script"})
    EXPECT_EQ(svg.find(foreign, svg.find("xmlns") + 40), std::string::npos) << foreign;

  EXPECT_EQ(stave_({"check", "a file.stave", "--explain", "why.html", "--json"}).exit, 1);
  const std::string page = file_text(stave_ / "why.html");
  EXPECT_NE(page.find("<svg "), std::string::npos);
  EXPECT_NE(page.find("<mark>  recv -&gt; %b"), std::string::npos) << page;
}

// The direction of an arrowhead is that of the last piece of its line.
TEST_F(CheckFiles, ExplainDrawsNoPieceWithoutALength) {
  write_text(stave_ / "ring.stave",
             "stave 1\nmesh x = 8\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n"
             "  send %a (axis = x, peer = (axis_index(x) + 1) mod 8)\n"
             "  recv -> %b (axis = x, peer = (axis_index(x) + 7) mod 8)\n}\n");
  int arrows = 0;
  for (const std::string file : {"a file.stave", "ring.stave"}) {
    EXPECT_EQ(stave_({"check", file, "--explain", "why.svg"}).exit, 1);
    const std::string svg = file_text(stave_ / "why.svg");
    const std::regex path(" d=\"M ([^\"]*)\""), point("-?[0-9]+ -?[0-9]+");
    for (std::sregex_iterator at(svg.begin(), svg.end(), path), end; at != end; ++at, ++arrows) {
      const std::string points = (*at)[1];
      std::string before;
      for (std::sregex_iterator p(points.begin(), points.end(), point), last; p != last; ++p) {
        EXPECT_NE(p->str(), before) << points;
        before = p->str();
      }
    }
  }
  EXPECT_GT(arrows, 8);
}

TEST_F(CheckFiles, OneUnreadableFileOfSeveralHidesNothing) {
  const Ran ran = stave_({"check", "a file.stave", "no_text.stave", "--json"});
  EXPECT_EQ(ran.exit, 2);
  const Json json(ran.out);
  EXPECT_EQ(json.at("$.schema"), "stave.checks/1");
  EXPECT_EQ(json.at("$.files[0].findings[0].code"), "STV1020");
  EXPECT_EQ(json.at("$.files[1].findings[0].code"), "STV0106");
  EXPECT_EQ(Json(stave_({"check", "no_text.stave", "--json"}).out).at("$.schema"), "stave.error/1");
}

TEST_F(CheckFiles, NothingToDrawIsSaidAndNoFileIsWritten) {
  const Ran ran = stave_({"check", "good.stave", "--explain", "why.svg"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "nothing to draw, so why.svg is not written\n");
  EXPECT_FALSE(exists("why.svg"));
}

TEST_F(CheckFiles, ASchedulesNameIsNoOutput) {
  for (const char* option : {"--sarif", "--explain"}) {
    const Ran ran = stave_({"check", "good.stave", option, "good.stave"});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("[STV0930]"), std::string::npos) << ran.err;
  }
  const Ran ran = stave_({"check", "good.stave", "--sarif", "no/folder.sarif", "--json"});
  EXPECT_EQ(ran.exit, 3);
  EXPECT_EQ(Json(ran.out).at("$.problems[0].code"), "STV0002");
}

}  // namespace
}  // namespace stave
