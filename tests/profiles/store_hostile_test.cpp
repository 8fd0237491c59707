// Files that are not run files, are damaged, or were made to do harm.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <random>

#include "core/base/files.h"
#include "profiles/store_reader.h"
#include "profiles/store_writer.h"
#include "tests/profiles/named_run.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    Timeline timeline;
    const StringId name = timeline.intern("'); DROP TABLE STAVE_SLICE; --");
    const TrackId track = timeline.add(Track{.name = "s"});
    for (int i = 0; i < 3000; ++i)
      timeline.add(Slice{.start = Time{i}, .duration = 1_ps, .track = track, .name = name});
    for (std::uint32_t i = 1; i <= 3000; ++i) timeline.add(KernelDetail{.slice = SliceId{i}, .correlation = i});
    auto writer = StoreWriter::create(path(), named("x"));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(replay(timeline, *writer));
    ASSERT_TRUE(writer->close());
  }

  std::string path() const { return folder_ / "a.sqlite"; }
  std::string file(const std::string& name) const { return folder_ / name; }
  // Changes the file with no protection at all, as an attacker's own program does.
  void change(const std::string& sql) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << sql << ": " << error;
    sqlite3_free(error);
    sqlite3_close(handle);
  }
  // The code of the first error of opening and loading; "" if all went well.
  static std::string outcome(const std::string& path) {
    auto reader = open_store(path);
    if (!reader) return located(reader.problems()[0], path);
    for (const StoredRun& run : reader->runs())
      if (const auto timeline = reader->load(run.id); !timeline) return timeline.problems()[0].code;
    return "";
  }
  std::string outcome() const { return outcome(path()); }

 private:
  static std::string located(const Problem& problem, const std::string& path) {
    EXPECT_EQ(problem.place.file, path);
    return problem.code;
  }
  TempFolder folder_;
};

TEST_F(Hostile, WrongFilesSayWhatTheyAre) {
  EXPECT_EQ(outcome(), "");
  EXPECT_EQ(outcome(file("missing")), "STV0702");
  EXPECT_EQ(outcome(file(".")), "STV0702");
  ASSERT_TRUE(write_file(file("empty"), ""));
  EXPECT_EQ(outcome(file("empty")), "STV0703");
  ASSERT_TRUE(write_file(file("text"), "{\"traceEvents\": []}\n"));
  EXPECT_EQ(outcome(file("text")), "STV0703");
  ASSERT_TRUE(write_file(file("garbage"), std::string("SQLite format 3\0", 16) + std::string(5000, '\x5a')));
  EXPECT_NE(outcome(file("garbage")), "");
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file("other").c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle, "CREATE TABLE StringIds(id, value)", nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  EXPECT_EQ(outcome(file("other")), "STV0704");
}

TEST_F(Hostile, ANewerSchemaIsNamed) {
  change("PRAGMA user_version = 7");
  const auto reader = open_store(path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.problems()[0].code, "STV0705");
  EXPECT_EQ(reader.problems()[0].message, "written by a newer Stave: schema 7, this version reads up to 1");
  EXPECT_EQ(StoreWriter::create(path(), named("y"), IfExists::Append).problems()[0].code, "STV0705");
}

TEST_F(Hostile, AFileCutAnywhereIsAnError) {
  const std::string whole = *read_file(path());
  for (std::size_t length = 1; length < whole.size(); length += length < 200 ? 37 : 4096 - 1) {
    ASSERT_TRUE(write_file(file("cut"), std::string_view(whole).substr(0, length)));
    const std::string code = outcome(file("cut"));
    EXPECT_TRUE(code == "STV0706" || code == "STV0703") << length << " of " << whole.size() << " bytes: " << code;
  }
}

// Any outcome but a crash, a hang or an unbounded allocation.
TEST_F(Hostile, FlippedBytesDoNotCrash) {
  const std::string whole = *read_file(path());
  std::minstd_rand random(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 20; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 2) damaged[random() % 4096] = static_cast<char>(random());
    ASSERT_TRUE(write_file(file("damaged"), damaged));
    refused += outcome(file("damaged")) != "";
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Hostile, TriggersDoNotRunWhenARunIsAdded) {
  change(
      "CREATE TABLE caught(x); CREATE TRIGGER t AFTER INSERT ON STAVE_RUN BEGIN INSERT INTO caught VALUES(1); END; "
      "CREATE TRIGGER u AFTER INSERT ON STAVE_SLICE BEGIN INSERT INTO caught VALUES(1); END");
  auto writer = StoreWriter::create(path(), named("y"), IfExists::Append);
  ASSERT_TRUE(writer) << to_text(writer.problems()[0]);
  const std::string_view name = "k";
  ASSERT_TRUE(writer->on_names({&name, 1}));
  const Track track{.name = "s"};
  ASSERT_TRUE(writer->on_tracks({&track, 1}));
  const Slice slice{.track = TrackId{0U}, .name = StringId{0U}};
  ASSERT_TRUE(writer->on_slices({&slice, 1}));
  ASSERT_TRUE(writer->close());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
  sqlite3_stmt* count = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(handle, "SELECT count(*) FROM caught", -1, &count, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(count), SQLITE_ROW);
  EXPECT_EQ(sqlite3_column_int(count, 0), 0);
  sqlite3_finalize(count);
  sqlite3_close(handle);
}

TEST_F(Hostile, AViewOrAVirtualTableInTheNameOfATableIsRefused) {
  change(
      "ALTER TABLE STAVE_RUN RENAME TO hidden; CREATE VIEW STAVE_RUN AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
      "SELECT x + 1 FROM c) SELECT * FROM c");
  EXPECT_EQ(outcome(), "STV0706");
}

TEST_F(Hostile, ATableWithAColumnThatComputesIsRefused) {
  change(
      "DROP VIEW slices; DROP TABLE STAVE_API; CREATE TABLE STAVE_API(slice_id INTEGER PRIMARY KEY, correlationId "
      "INTEGER, returnValue INTEGER AS (zeroblob(1000000000)))");
  EXPECT_EQ(outcome(), "STV0706");
}

TEST_F(Hostile, AnEndlessViewOfOursIsNotLookedAt) {
  change(
      "DROP VIEW slices; CREATE VIEW slices AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
      "SELECT * FROM c");
  EXPECT_EQ(outcome(), "");
}

TEST_F(Hostile, ValuesThatLieAreRefused) {
  const std::string good = *read_file(path());
  const auto refused = [&](const std::string& sql) {
    EXPECT_TRUE(write_file(path(), good));
    change(sql);
    const std::string code = outcome();
    EXPECT_TRUE(code == "STV0706" || code == "STV0707" || code == "STV0713") << sql << ": " << code;
  };
  refused("UPDATE STAVE_SLICE_CHUNK SET count = 1000000000");
  refused("UPDATE STAVE_SLICE_CHUNK SET count = -1");
  refused("UPDATE STAVE_SLICE_CHUNK SET track_id = x'00'");
  refused("UPDATE STAVE_SLICE_CHUNK SET track_id = zeroblob(12000)");
  refused("UPDATE STAVE_SLICE_CHUNK SET first_slice = 5");
  refused("UPDATE STAVE_NAME SET name_id = 9");
  refused("UPDATE STAVE_TRACK SET rank = -1");
  refused("UPDATE STAVE_TRACK SET kind = 'spaceship'");
  refused("UPDATE STAVE_TRACK SET parent_id = 1");
  refused("UPDATE STAVE_KERNEL SET slice_id = slice_id - 1; UPDATE STAVE_FIRST SET first_id = 0");
  refused("DELETE FROM STAVE_FIRST");
  refused("UPDATE STAVE_FIRST SET first_id = 9223372036854775807");
  refused("UPDATE STAVE_RUN SET world_size = -5");
  refused("INSERT INTO STAVE_FLOW VALUES(1, 1, 90000, 0, 0)");
  refused("INSERT INTO STAVE_FLOW VALUES(1, 1, 1, 200, 0)");
  refused("INSERT INTO STAVE_COST VALUES(1, 1, 77, 1, 1, 1, 1, 1)");
}

TEST_F(Hostile, AnIncompleteRunWithBadRowsIsRefused) {
  change("UPDATE STAVE_RUN SET complete = 0; UPDATE STAVE_SLICE SET track_id = 99 WHERE slice_id = 7");
  EXPECT_EQ(outcome(), "STV0707");
  change("UPDATE STAVE_SLICE SET track_id = 1; DELETE FROM STAVE_SLICE WHERE slice_id = 7; DELETE FROM STAVE_KERNEL");
  EXPECT_EQ(outcome(), "STV0706");
}

}  // namespace
}  // namespace stave
