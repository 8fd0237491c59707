// Writers that are killed, and disks that are full.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>

#include "core/base/files.h"
#include "profiles/store_reader.h"
#include "profiles/store_writer.h"
#include "tests/profiles/named_run.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

constexpr std::int64_t rows_a_batch = 700;

Slice slice_number(std::int64_t i) {
  return {.start = Time{i * 10}, .duration = Time{i % 10}, .track = TrackId{0U}, .name = StringId{0U}};
}

// Writes batches until the disk or `batches` end. Each one that the writer took is a byte on `acknowledge`.
Result<void> write_run(const std::string& path, std::int64_t batches, int acknowledge) {
  TRY(StoreWriter writer, StoreWriter::create(path, named("x")));
  const std::string_view name = "k";
  TRY_VOID(writer.on_names({&name, 1}));
  const Track track{.name = "s"};
  TRY_VOID(writer.on_tracks({&track, 1}));
  std::vector<Slice> batch;
  for (std::int64_t b = 0; b < batches; ++b) {
    batch.clear();
    for (std::int64_t i = 0; i < rows_a_batch; ++i) batch.push_back(slice_number(b * rows_a_batch + i));
    TRY_VOID(writer.on_slices(batch));
    if (acknowledge >= 0 && ::write(acknowledge, "x", 1) != 1) ::_exit(9);
  }
  return writer.close();
}

// What a reader finds is what the writer wrote, up to some batch's end.
std::int64_t batches_found(const std::string& path) {
  auto reader = open_store(path);
  if (!reader) {
    ADD_FAILURE() << to_text(reader.problems()[0]);
    return -1;
  }
  if (reader->runs().empty()) return 0;
  EXPECT_TRUE(reader->runs()[0].complete || !reader->problems().empty());
  const auto timeline = reader->load(1);
  if (!timeline) {
    ADD_FAILURE() << to_text(timeline.problems()[0]);
    return -1;
  }
  std::int64_t i = 0;
  for (const Slice& slice : timeline->slices())
    if (!(slice == slice_number(i++))) {
      ADD_FAILURE() << "slice " << i << " is another";
      return -1;
    }
  EXPECT_EQ(i % rows_a_batch, 0);
  return i / rows_a_batch;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

TEST(StoreLife, AWriterThatExitsMidwayLeavesItsBatches) {
  const TempFolder folder;
  const std::string path = folder / "a";
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = StoreWriter::create(path, named("x"));
    const std::string_view name = "k";
    const Track track{.name = "s"};
    std::vector<Slice> batch;
    for (std::int64_t i = 0; i < rows_a_batch; ++i) batch.push_back(slice_number(i));
    const bool wrote =
        writer && writer->on_names({&name, 1}) && writer->on_tracks({&track, 1}) && writer->on_slices(batch);
    ::_exit(wrote ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_FALSE(exists(path));
  EXPECT_EQ(batches_found(path + ".partial"), 1);
  auto reader = open_store(path + ".partial");
  ASSERT_TRUE(reader);
  ASSERT_EQ(reader->problems().size(), 1U);
  EXPECT_EQ(reader->problems()[0].code, "STV0712");
  EXPECT_EQ(reader->problems()[0].message,
            "run \"x\" was not finished: it holds the 700 slices that were written before its writer stopped, and "
            "what came after is missing");
  // The next writer of that name is not in its way.
  ASSERT_TRUE(write_run(path, 2, -1));
  EXPECT_EQ(batches_found(path), 2);
}

TEST(StoreLife, AnUnfinishedFileWithoutItsLogSaysSo) {
  const TempFolder folder;
  auto writer = StoreWriter::create(folder / "a", named("x"));
  ASSERT_TRUE(writer);
  const std::string copy = *read_file(folder / "a.partial");
  ASSERT_TRUE(write_file(folder / "b", copy));
  auto reader = open_store(folder / "b");
  ASSERT_TRUE(reader) << to_text(reader.problems()[0]);
  ASSERT_EQ(reader->problems().size(), 1U);
  EXPECT_EQ(reader->problems()[0].code, "STV0712");
}

// Kills at random points, in the beginning, within and between batches, while
// the file is finished and while it gets its name.
TEST(StoreLife, KillNineLosesNothingThatWasAcknowledged) {
  std::minstd_rand random(1);
  // How long a whole run takes on this machine, to aim within it.
  const TempFolder trial;
  const auto started = std::chrono::steady_clock::now();
  constexpr std::int64_t batches = 60;
  ASSERT_TRUE(write_run(trial / "a", batches, -1));
  const auto whole =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started).count();
  int unfinished = 0;
  for (int round = 0; round < 20; ++round) {
    const TempFolder folder;
    const std::string path = folder / "a";
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(write_run(path, batches, ends[1]) ? 0 : 1);
    ::close(ends[1]);
    // Every other round aims at the end, where the file is finished.
    const double share = round % 2 ? 0.8 + 0.3 * (random() % 1000) / 1000.0 : 1.1 * (random() % 1000) / 1000.0;
    ::usleep(static_cast<useconds_t>(static_cast<double>(whole) * share));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    std::int64_t acknowledged = 0;
    char piece[64];
    for (ssize_t n; (n = ::read(ends[0], piece, sizeof piece)) > 0;) acknowledged += n;
    ::close(ends[0]);
    if (exists(path)) {
      EXPECT_EQ(batches_found(path), batches);
      EXPECT_TRUE(open_store(path)->problems().empty());
      continue;
    }
    ++unfinished;
    if (acknowledged == 0 && !open_store(path + ".partial")) continue;  // not even its tables yet
    EXPECT_GE(batches_found(path + ".partial"), acknowledged) << "round " << round;
  }
  EXPECT_GT(unfinished, 0) << "no kill came in time";
}

// A limit on the size of files is a full disk that a test can have.
TEST(StoreLife, AFullDiskIsAnErrorAndNothingUnderTheFinalName) {
  const TempFolder folder;
  const std::string path = folder / "a";
  for (const rlim_t limit : {8'000, 100'000, 300'000, 900'000, 1'300'000}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit most{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &most);
      const Result<void> result = write_run(path, 200, -1);
      ::_exit(result ? 1 : result.problems()[0].code == "STV0701" ? 0 : 2);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "limit " << limit << ": 256 is success, 512 another error";
    EXPECT_FALSE(exists(path)) << "limit " << limit;
  }
  ASSERT_TRUE(write_run(path, 200, -1));
  EXPECT_EQ(batches_found(path), 200);
}

TEST(StoreLife, AFolderThatIsNotThereIsAnError) {
  const Result<void> result = write_run("/no/such/folder/a", 1, -1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.problems()[0].code, "STV0702");
}

}  // namespace
}  // namespace stave
