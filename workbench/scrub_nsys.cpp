// An export of Nsight Systems, table by table into a new one. Only columns of
// the list below are copied: numbers as numbers, texts scrubbed, and of the
// strings only those that a copied column names.
#include <fmt/format.h>

#include <map>
#include <set>

#include "profiles/import/nsys_tables.h"
#include "workbench/scrub_file.h"
#include "workbench/scrub_text.h"

namespace stave {
namespace {

// '#' names a string of StringIds, '$' is a text; all else are numbers.
struct KeptTable {
  std::string_view name;
  std::string_view columns;
};
#define STAVE_WORK "start end deviceId contextId greenContextId streamId correlationId globalPid "
constexpr KeptTable kept_tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", STAVE_WORK
     "#demangledName #shortName #mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY "
     "blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted "
     "graphNodeId sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone graphId clusterX clusterY "
     "clusterZ clusterSchedulingPolicy maxPotentialClusterSize maxActiveClusters sharedMemoryRequestedPercentage"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", STAVE_WORK
     "bytes copyKind deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId migrationCause "
     "graphNodeId copyCount"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", STAVE_WORK "value bytes graphNodeId memKind"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start end eventClass globalTid correlationId #nameId returnValue callchainId"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", STAVE_WORK "deprecatedSyncType syncType eventId eventSyncId"},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     "timestamp deviceId contextId greenContextId streamId correlationId globalPid eventId eventSyncId"},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", STAVE_WORK "graphId graphExecId"},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", "start end eventClass globalTid correlationId #nameId overheadType"},
    {"CUDA_GRAPH_NODE_EVENTS", "start end eventClass globalTid #nameId graphNodeId originalGraphNodeId"},
    {"CUDA_GRAPH_EVENTS", "start end eventClass globalTid #nameId graphId originalGraphId graphExecId"},
    {"NVTX_EVENTS", "start end eventType rangeId category color $text globalTid endGlobalTid #textId domainId"},
    {"GPU_METRICS", "rawTimestamp timestamp typeId metricId value"},
    {"TARGET_INFO_GPU_METRICS", "typeId sourceId $typeName metricId $metricName"},
    {"TARGET_INFO_GPU",
     "vmId id $name isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount pwGpuId $chipName cuDevice "
     "revision constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm "
     "maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock maxBlockDimX "
     "maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor smMajor smMinor"},
    {"TARGET_INFO_CUDA_CONTEXT_INFO",
     "nullStreamId hwId vmId processId deviceId contextId parentContextId isGreenContext numMultiprocessors"},
    {"TARGET_INFO_CUDA_STREAM", "streamId hwId vmId processId contextId priority flag"},
    {"ANALYSIS_DETAILS", "globalVid duration"},
    {"PROCESSES", "globalPid pid"},
    {"ThreadNames", "#nameId priority globalTid"},
    {"ENUM_NSYS_EVENT_TYPE", "id $name $label"},
    {"ENUM_NSYS_EVENT_CLASS", "id $name $label"},
    {"ENUM_CUDA_MEMCPY_OPER", "id $name $label"},
    {"ENUM_CUDA_MEM_KIND", "id $name $label"},
    {"ENUM_CUDA_KERNEL_LAUNCH_TYPE", "id $name $label"},
    {"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", "id $name $label"},
    {"ENUM_CUDA_FUNC_CACHE_CONFIG", "id $name $label"},
    {"ENUM_CUPTI_STREAM_TYPE", "id $name $label"},
    {"ENUM_CUPTI_SYNC_TYPE", "id $name $label"},
    {"ENUM_CUPTI_OVERHEAD_TYPE", "id $name $label"},
};
#undef STAVE_WORK

// Rows of META_DATA_EXPORT that say how to read the file.
constexpr std::string_view kept_metadata[] = {"EXPORT_PRODUCT_NAME",         "EXPORT_PRODUCT_VERSION",
                                              "EXPORT_SCHEMA_VERSION",       "EXPORT_SCHEMA_VERSION_MAJOR",
                                              "EXPORT_SCHEMA_VERSION_MINOR", "EXPORT_SCHEMA_VERSION_MICRO",
                                              "EXPORT_CONFIG_TIME_SHIFT"};

struct KeptColumn {
  std::string name;
  char kind = ' ';  // '#', '$', ' '
};

class NsysScrub {
 public:
  NsysScrub(sqlite::Database from, NsysTables tables, sqlite::Database to, Scrubbed& scrubbed, Progress* progress)
      : from_(std::move(from)),
        tables_(std::move(tables)),
        to_(std::move(to)),
        scrubbed_(scrubbed),
        progress_(progress) {}

  Result<void> run() {
    TRY_VOID(learn());
    TRY_VOID(to_.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"));
    TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(to_));
    for (const KeptTable& table : kept_tables) TRY_VOID(copy(table));
    TRY_VOID(strings());
    TRY_VOID(metadata());
    TRY_VOID(transaction.commit());
    TRY_VOID(count_tables());
    scrubbed_.replaced = scrubber_.counts();
    return to_.close();
  }

 private:
  using Names = std::vector<std::string_view>;

  Result<void> each(std::string_view table, const Names& columns, auto take) {
    const std::string sql = tables_.select(table, columns);
    if (sql.empty()) return {};
    TRY(sqlite::Statement row, from_.prepare(sql));
    for (std::int64_t n = 1;; ++n) {
      TRY(const bool more, row.step());
      if (!more) return {};
      if (n % 65536 == 0) TRY_VOID(still_wanted(progress_));
      TRY_VOID(take(row));
    }
  }

  // From what will not be copied, and from the texts that will.
  Result<void> learn() {
    const auto text = [&](const sqlite::Statement& row) -> Result<void> {
      scrubber_.learn(row.text(0));
      return {};
    };
    TRY_VOID(each("StringIds", {"value"}, text));
    TRY_VOID(each("NVTX_EVENTS", {"text"}, text));
    for (const std::string_view table : {"META_DATA_EXPORT", "META_DATA_CAPTURE", "TARGET_INFO_SYSTEM_ENV"}) {
      TRY_VOID(each(table, {"name", "value"}, [&](const sqlite::Statement& row) -> Result<void> {
        const std::string_view name = row.text(0), value = row.text(1);
        if (name == "EXPORT_HOST" || name == "DEVICE_DISPLAY_NAME" || name == "Hostname" || name == "HOSTNAME")
          scrubber_.add_host(value);
        if (name == "EXPORT_USER" || name == "USER" || name == "LOGNAME" || name == "USERNAME")
          scrubber_.add_user(value);
        scrubber_.learn(value);
        return {};
      }));
    }
    return {};
  }

  static std::vector<KeptColumn> columns_of(const KeptTable& table) {
    std::vector<KeptColumn> columns;
    for (std::size_t at = 0; at < table.columns.size();) {
      const std::size_t end = std::min(table.columns.find(' ', at), table.columns.size());
      std::string name(table.columns.substr(at, end - at));
      const char kind = name[0] == '#' || name[0] == '$' ? name[0] : ' ';
      columns.push_back({kind == ' ' ? name : name.substr(1), kind});
      at = end + 1;
    }
    return columns;
  }

  Result<void> copy(const KeptTable& table) {
    if (tables_.table(table.name).empty()) return {};
    std::string create, places;
    std::vector<KeptColumn> columns;
    Names names;
    for (KeptColumn& column : columns_of(table)) {
      if (!tables_.has(table.name, column.name)) continue;
      create +=
          fmt::format("{}\"{}\" {}", create.empty() ? "" : ", ", column.name, column.kind == '$' ? "TEXT" : "INTEGER");
      places += places.empty() ? "?" : ", ?";
      columns.push_back(std::move(column));
    }
    if (columns.empty()) return {};
    for (const KeptColumn& column : columns) names.push_back(column.name);
    TRY_VOID(to_.execute(fmt::format("CREATE TABLE {}({})", table.name, create).c_str()));
    TRY(sqlite::Statement insert, to_.prepare(fmt::format("INSERT INTO {} VALUES({})", table.name, places)));
    kept_.insert(tables_.table(table.name));
    return each(table.name, names, [&](const sqlite::Statement& row) -> Result<void> {
      std::vector<std::string> texts(columns.size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto column = static_cast<int>(i);
        if (row.is_null(column)) {
          insert.put(column + 1, nullptr);
        } else if (columns[i].kind == '$') {
          texts[i] = scrubber_.scrubbed(row.text(column));
          insert.put(column + 1, texts[i]);
        } else {
          // A text where a number belongs becomes one.
          const std::int64_t value = row.integer(column);
          if (columns[i].kind == '#') strings_.insert(value);
          insert.put(column + 1, value);
        }
      }
      return insert.execute();
    });
  }

  Result<void> strings() {
    TRY_VOID(to_.execute("CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)"));
    TRY(sqlite::Statement insert, to_.prepare("INSERT OR IGNORE INTO StringIds VALUES(?, ?)"));
    kept_.insert(tables_.table("StringIds"));
    return each("StringIds", {"id", "value"}, [&](const sqlite::Statement& row) -> Result<void> {
      if (!strings_.contains(row.integer(0))) {
        ++scrubbed_.left_out["[string|strings] that no kept row names"];
        return {};
      }
      return insert.run(row.integer(0), scrubber_.scrubbed(row.text(1)));
    });
  }

  Result<void> metadata() {
    TRY_VOID(to_.execute("CREATE TABLE META_DATA_EXPORT(name TEXT NOT NULL, value TEXT)"));
    TRY(sqlite::Statement insert, to_.prepare("INSERT INTO META_DATA_EXPORT VALUES(?, ?)"));
    kept_.insert(tables_.table("META_DATA_EXPORT"));
    TRY_VOID(each("META_DATA_EXPORT", {"name", "value"}, [&](const sqlite::Statement& row) -> Result<void> {
      const std::string_view name = row.text(0);
      if (std::find(std::begin(kept_metadata), std::end(kept_metadata), name) != std::end(kept_metadata))
        return insert.run(name, scrubber_.scrubbed(row.text(1)));
      ++scrubbed_.left_out["[row|rows] of metadata"];
      return {};
    }));
    return insert.run(std::string_view("DERIVED_BY"), std::string_view("stave scrub"));
  }

  // Tables that are not on the list.
  Result<void> count_tables() {
    TRY(sqlite::Statement names, from_.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 "
                                               "AND name NOT LIKE 'sqlite%' ORDER BY name"));
    while (true) {
      TRY(const bool more, names.step());
      if (!more) return {};
      const std::string name(names.text(0));
      if (kept_.contains(name)) continue;
      std::string quoted;
      for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
      TRY(const std::int64_t rows, from_.integer(fmt::format("SELECT count(*) FROM \"{}\"", quoted)));
      scrubbed_.left_out[fmt::format("[row|rows] of table {}", scrubber_.scrubbed(name))] = rows;
    }
  }

  sqlite::Database from_;
  NsysTables tables_;
  sqlite::Database to_;
  Scrubbed& scrubbed_;
  Progress* progress_;
  TextScrubber scrubber_;
  std::set<std::int64_t> strings_;  // that kept rows name
  std::set<std::string> kept_;      // tables of the input
};

}  // namespace

Result<void> scrub_nsys_file(const std::string& input, const std::string& output, Scrubbed& scrubbed,
                             Progress* progress) {
  TRY(sqlite::Database from, sqlite::Database::open(input, sqlite::Access::Read));
  TRY(NsysTables tables, NsysTables::read(from));
  TRY(sqlite::Database to, sqlite::Database::open(output, sqlite::Access::Create));
  NsysScrub scrub(std::move(from), std::move(tables), std::move(to), scrubbed, progress);
  return scrub.run();
}

}  // namespace stave
