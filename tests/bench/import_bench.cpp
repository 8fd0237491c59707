// Importing an export of Nsight Systems: rows a second into a sink that drops
// them, and into a run file. Half of the rows are kernels, half are their calls.
// Importing a Kineto trace: bytes of JSON a second, read once (the look at its
// launches, collectives and steps) and as a whole, which reads it twice.
// CPU time is that of all threads.
// STAVE_BENCH_FOLDER is where the files go, else the system's temporary folder.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "profiles/import/importer.h"
#include "profiles/sqlite.h"
#include "profiles/store_writer.h"

namespace stave {
namespace {

constexpr std::int64_t kernels = 500'000;

std::filesystem::path bench_folder() {
  const char* folder = std::getenv("STAVE_BENCH_FOLDER");
  return folder ? folder : std::filesystem::temp_directory_path();
}

// As schema 3.24 has it: the columns that the timeline needs, or all that say something.
Result<void> make_export(const std::string& path, bool complete) {
  TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Access::Create));
  const std::string more = complete ? ", gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER,"
                                      "blockZ INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER,"
                                      "dynamicSharedMemory INTEGER, launchType INTEGER, cacheConfig INTEGER,"
                                      "localMemoryPerThread INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER"
                                    : "";
  const std::string values = complete ? ", 132, 1, 1, 256, 1, 1, 168, 0, 99000, 1, 0, 0, 233472, NULL" : "";
  TRY_VOID(database.execute((R"(
    CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
    INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', '3.24.14');
    CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES(0, 'cudaLaunchKernel_v7000');
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)" +
                             more + R"();
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO StringIds SELECT i, 'void cutlass::Kernel2<gemm_' || i || '>(Params)' FROM n;
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < )" +
                             std::to_string(kernels) + R"()
      INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
        SELECT i * 7000, i * 7000 + 4000, 0, (1 << 24) * 100 + 101, i, 0, 0, NULL FROM n;
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < )" +
                             std::to_string(kernels) + R"()
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
        SELECT i * 7000 + 9000, i * 7000 + 14000, 0, 1, 7 + i % 2, i, (1 << 24) * 100, 1 + i % 200, 1 + i % 200)" +
                             values + " FROM n;")
                                .c_str()));
  return database.close();
}

void import_nsys(benchmark::State& state) {
  const bool complete = state.range(0) != 0;
  const std::string path = (bench_folder() / "stave-bench-nsys.sqlite").string();
  const std::string out = (bench_folder() / "stave-bench-imported.sqlite").string();
  std::filesystem::remove(path);
  if (!make_export(path, complete)) return state.SkipWithError("cannot make the export");
  const auto import = [&]() -> Result<void> {
    const std::vector<std::string> paths{path};
    ImportOptions options;
    options.args = complete;
    TRY(const Importer* const importer, find_importer(paths));
    TRY(const std::unique_ptr<Import> trace, importer->open(paths, options, nullptr));
    if (!complete) {
      NullSink sink;
      TRY_VOID(trace->read(sink, nullptr));
      return {};
    }
    TRY(StoreWriter writer, StoreWriter::create(out, trace->run()));
    TRY_VOID(trace->read(writer, nullptr));
    return writer.close();
  };
  for (auto step : state)
    if (!import()) state.SkipWithError("cannot import");
  state.SetItemsProcessed(state.iterations() * 2 * kernels);
  std::filesystem::remove(path);
  std::filesystem::remove(out);
}
BENCHMARK(import_nsys)
    ->ArgName("complete")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// As PyTorch 2 writes them: two operators, a call and its kernel, in 1.1 kB.
Result<void> make_json(const std::string& path, int launches) {
  std::string text = R"({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": [)";
  for (int i = 0; i < launches; ++i) {
    const std::string ts = std::to_string(1000 + i * 70) + ".125";
    const std::string id = std::to_string(i + 1);
    text += i == 0 ? "\n" : ",\n";
    for (const char* op : {"aten::linear", "aten::addmm"})
      text += R"({"ph": "X", "cat": "cpu_op", "name": ")" + std::string(op) + R"(", "pid": 4711, "tid": 4711, "ts": )" +
              ts + R"(, "dur": 42.250, "args": {"External id": )" + id +
              R"(, "Sequence number": 7, "Fwd thread id": 0, "Input Dims": "[[8, 512], [512, 512]]", "Ev Idx": )" + id +
              "}},\n";
    text += R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": 4711, "ts": )" + ts +
            R"(, "dur": 5.500, "args": {"External id": )" + id + R"(, "cbid": 211, "correlation": )" + id + "}},\n";
    text +=
        R"({"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_nn", "pid": 0, "tid": 7, "ts": )" +
        std::to_string(1010 + i * 70) + R"(.375, "dur": 33.125, "args": {"External id": )" + id +
        R"(, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": )" + id +
        R"(, "registers per thread": 122, "shared memory": 12288, "blocks per SM": 0.592593, "warps per SM": 2.37037, )"
        R"("grid": [8, 4, 1], "block": [128, 1, 1], "est. achieved occupancy %": 4}})";
  }
  text += "\n]}\n";
  return write_file(path, text);
}

void import_json(benchmark::State& state) {
  const bool whole = state.range(0) != 0;
  const std::string path = (bench_folder() / "stave-bench.json").string();
  if (!make_json(path, 50'000)) return state.SkipWithError("cannot make the trace");
  const auto import = [&]() -> Result<void> {
    const std::vector<std::string> paths{path};
    TRY(const Importer* const importer, find_importer(paths));
    TRY(const std::unique_ptr<Import> trace, importer->open(paths, {}, nullptr));
    if (!whole) return {};
    NullSink sink;
    TRY_VOID(trace->read(sink, nullptr));
    return {};
  };
  for (auto step : state)
    if (!import()) state.SkipWithError("cannot import");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
  std::filesystem::remove(path);
}
BENCHMARK(import_json)->ArgName("whole")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace stave
