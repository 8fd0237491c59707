// Secrets are planted, and the bytes of what `stave scrub` wrote are searched.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/timeline/timeline.h"
#include "profiles/store_reader.h"
#include "profiles/store_writer.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

constexpr const char* planted[] = {"grace",          "Hopper",   "node17",  "gpu.example.org", "/srv/",
                                   "secret_project", "10.1.2.3", "hunter2", "PATH_OF_ENV",     "train.py"};

std::string lower_text(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return text;
}

void expect_clean(const std::string& path) {
  const std::string bytes = lower_text(file_text(path));
  ASSERT_FALSE(bytes.empty());
  for (const char* secret : planted) EXPECT_EQ(bytes.find(lower_text(secret)), std::string::npos) << secret;
}

TEST(Scrub, OfARunLeavesStructureAndNoSecret) {
  const Program stave;
  RunInfo info{.label = "of grace", .kind = RunKind::Imported, .tool = "t", .tool_version = "1"};
  info.options_json = R"({"command": "python /srv/secret_project/train.py --password hunter2"})";
  info.schedule_text = "stave 1 // by Hopper on node17\nfunc @f(%a: inout f32[1]) {\n}\n";
  info.base_unix_ns = 1'700'000'000'000'000'000;
  Timeline timeline;
  timeline.add(SourceInfo{.name = "node17_secret_project.json", .sha256 = "hunter2", .bytes = 5, .format = "kineto"});
  timeline.add(RankInfo{.rank = 0,
                        .rank_from = "test",
                        .host = "node17.gpu.example.org",
                        .pid = 4242,
                        .gpu = "H200",
                        .gpu_uuid = "GPU-PATH_OF_ENV"});
  const TrackId track = timeline.add(Track{.name = "thread of grace"});
  const auto add = [&](std::string_view name) {
    return timeline.add(
        Slice{.start = Time{0}, .duration = Picoseconds{7}, .track = track, .name = timeline.intern(name)});
  };
  const SliceId first = add("/home/grace/train.py(12): step");
  add("gemm_of_GRACE<float>");
  add("C:\\Users\\Hopper\\train.py(3)");
  add("connect 10.1.2.3, grace@gpu.example.org");
  add("void ampere_gemm<128, 64>(float const*, int) / 2");
  add("/home/grace/train.py(12): backward");
  timeline.add(ArgsDetail{first,
                          R"({"stream": 7, "grid": [1, 2, 3], "Call stack": "/srv/secret_project", "dtype": "Float",)"
                          R"( "hunter2 path": "x"})"});
  timeline.add(TimelineProblem{.code = "STV0740", .message = "in /srv/secret_project/x.json", .file = "/srv/x.json"});
  auto writer = StoreWriter::create(stave / "run.sqlite", info);
  ASSERT_TRUE(writer && replay(timeline, *writer) && writer->close());

  const Ran ran = stave({"scrub", "run.sqlite", "-o", "shared.sqlite"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("\n         1 host name\n"), std::string::npos) << ran.out;
  const Json json(stave({"scrub", "run.sqlite", "-o", "again.sqlite", "--json"}).out);
  EXPECT_EQ(json.one("SELECT count(*) FROM json_each(?1, '$.left_out') WHERE value->>'what' = 'host names'"), "1");
  EXPECT_NE(ran.out.find("absolute paths"), std::string::npos);
  for (const char* secret : planted) EXPECT_EQ(ran.out.find(secret), std::string::npos) << secret;
  expect_clean(stave / "shared.sqlite");
  auto store = open_store(stave / "shared.sqlite");
  ASSERT_TRUE(store);
  const auto back = store->load(1);
  ASSERT_TRUE(back);
  std::vector<std::string> names;
  for (const Slice& slice : back->slices()) names.emplace_back(back->text(slice.name));
  EXPECT_EQ(names, (std::vector<std::string>{
                       "path-1(12): step", "gemm_of_user-1<float>", "path-2(3)", "connect address-1, user-1@host-2",
                       "void ampere_gemm<128, 64>(float const*, int) / 2", "path-1(12): backward"}));
  EXPECT_EQ(back->args()[0].json, R"({"stream": 7, "grid": [1, 2, 3], "dtype": "Float"})");
  EXPECT_EQ(back->slices()[0].duration, Picoseconds{7});
  EXPECT_EQ(back->ranks()[0].gpu, "H200");
  EXPECT_EQ(store->runs()[0].info.schedule_text, "stave 1 \nfunc @f(%a: inout f32[1]) {\n}\n");
}

TEST(Scrub, OfAPredictionKeepsItsReport) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  ASSERT_EQ(stave({"scrub", "ring.sqlite", "-o", "shared.sqlite", "--json"}).exit, 0);
  const Json before(stave({"report", "ring.sqlite", "--json"}).out),
      after(stave({"report", "shared.sqlite", "--json"}).out);
  for (const char* path : {"$.makespan_ps", "$.kernels", "$.ranks", "$.critical_path", "$.collectives"})
    EXPECT_EQ(before.at(path), after.at(path)) << path;
}

TEST(Scrub, OfAnExportOfNsightCopiesOnlyWhatIsListed) {
  const Program stave;
  const std::string sql =
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
      "INSERT INTO StringIds VALUES(1, 'gemm'), (2, '/srv/secret_project/log of hunter2'), (3, 'cudaLaunchKernel'),"
      "(4, 'grace_thread');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, deviceId INTEGER, streamId INTEGER,"
      "correlationId INTEGER, globalPid INTEGER, shortName INTEGER, demangledName INTEGER, note TEXT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 0, 7, 5, 16777216, 1, 1, 'PATH_OF_ENV'),"
      "(30, 40, 0, 7, 'hunter2', 16777216, 1, 1, NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, \"end\" INTEGER, eventClass INTEGER, globalTid INTEGER,"
      "correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 5, 0, 16777217, 5, 3, 0);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,"
      "jsonText TEXT);"
      "INSERT INTO NVTX_EVENTS VALUES(0, 50, 59, 'step of Grace on node17', 16777217, '{\"p\": \"hunter2\"}');"
      "CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.24.14'), ('EXPORT_USER', 'grace'),"
      "('EXPORT_HOST', 'node17'), ('EXPORT_PARAM_INPUT_PATH', '/home/Hopper/train.py');"
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('PATH_OF_ENV', 'hunter2');"
      "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);"
      "INSERT INTO ThreadNames VALUES(4, 20, 16777217);"
      "CREATE TABLE PROCESSES(globalPid INTEGER, pid INTEGER, name TEXT);"
      "INSERT INTO PROCESSES VALUES(16777216, 42, 'python train.py');";
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((stave / "trace.sqlite").c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  // Free pages of the input hold a secret, too.
  sqlite3_exec(handle,
               "CREATE TABLE gone(t); INSERT INTO gone VALUES(hex(zeroblob(9000)) || 'hunter2'); DROP TABLE gone;",
               nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  const Ran ran = stave({"scrub", "trace.sqlite", "-o", "shared.sqlite"});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("1 row of table TARGET_INFO_SYSTEM_ENV"), std::string::npos) << ran.out;
  expect_clean(stave / "shared.sqlite");
  const Ran imported = stave({"import", "shared.sqlite", "-o", "run.sqlite", "--json"});
  EXPECT_EQ(imported.exit, 0) << imported.err;
  EXPECT_EQ(Json(imported.out).at("$.kernels_count"), "2");
  EXPECT_EQ(Json(imported.out).at("$.format_version"), "3.24.14");
  EXPECT_EQ(Json(stave({"report", "run.sqlite", "--json"}).out).at("$.ranges[0].name"), "step of user-1 on host-1");
}

TEST(Scrub, SaysWhatCannotBeDone) {
  const Program stave;
  write_text(stave / "a.txt", "text");
  const auto code = [&](const std::vector<std::string>& arguments) {
    return Json(stave(arguments).out).at("$.problems[0].code");
  };
  EXPECT_EQ(code({"scrub", "a.txt", "-o", "b.sqlite", "--json"}), "STV0970");
  EXPECT_EQ(code({"scrub", "a.txt", "-o", "a.txt", "--yes", "--json"}), "STV0971");
  EXPECT_EQ(code({"scrub", "examples/trace.json", "-o", "b.sqlite", "--json"}), "STV0970");
  EXPECT_FALSE(fs::exists(stave / "b.sqlite"));
  EXPECT_FALSE(fs::exists(stave / "b.sqlite.partial"));
}

}  // namespace
}  // namespace stave
