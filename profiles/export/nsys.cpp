// Nsight Systems' SQLite tables, for programs that select from them. Only what
// is known is written: a column that may be NULL and is not known is NULL; of
// those that may not, META_DATA_EXPORT names the ones that are 0 for "not known".
#include <fmt/format.h>

#include <set>

#include "profiles/bulk_insert.h"
#include "profiles/export/exporter.h"
#include "profiles/export/nsys_schema.h"

namespace stave {
namespace {

constexpr std::size_t nsys_batch = 4096;
constexpr std::int64_t nsys_machine = std::int64_t{1} << 48;  // of a global id: above 24 bits of process
constexpr std::int64_t thread_bits = 0xffffff;
constexpr std::int64_t push_pop_range = 59;

// Columns of a row, in order. Texts are ids of StringIds.
using NsysInteger = std::optional<std::int64_t>;
template <std::size_t n>
using NsysRow = std::array<NsysInteger, n>;

template <std::size_t n>
class NsysTable {
 public:
  explicit NsysTable(const char* name) : insert_(name, static_cast<int>(n)) {}

  Result<void> add(sqlite::Database& database, NsysRow<n> row) {
    rows_.push_back(row);
    return rows_.size() < nsys_batch ? Result<void>() : flush(database);
  }
  Result<void> flush(sqlite::Database& database) {
    Result<void> done = insert_.run(database, rows_, [](const NsysRow<n>& row) {
      return std::apply([](const auto&... column) { return std::make_tuple(column...); }, row);
    });
    rows_.clear();
    return done;
  }

 private:
  sqlite::BulkInsert insert_;
  std::vector<NsysRow<n>> rows_;
};

class NsysWriter {
 public:
  NsysWriter(RunCursor& run, sqlite::Database& database, RunFlows flows, bool correlations, ExportReport& report)
      : run_(run),
        database_(database),
        flows_(std::move(flows)),
        correlations_(correlations),
        report_(report),
        steps_(run) {}

  Result<void> write(const ExportOptions& options, Progress* progress) {
    for (const char* table : nsys_schema::tables()) TRY_VOID(database_.execute(table));
    TRY_VOID(run_.slices(RunCursor::Order::Written, false, progress, [&](const SliceRow& row) { return slice(row); }));
    TRY_VOID(kernels_.flush(database_));
    TRY_VOID(copies_.flush(database_));
    TRY_VOID(memsets_.flush(database_));
    TRY_VOID(calls_.flush(database_));
    TRY_VOID(ranges_.flush(database_));
    TRY_VOID(run_.counters([&](const CounterSample&) -> Result<void> {
      ++report_.left_out["samples of counters"];
      return {};
    }));
    for (std::uint32_t i = 0; i < flows_.size(); ++i)
      if (flows_.flow(i).kind == FlowKind::Launch)
        ++report_.edges;
      else
        ++report_.left_out["edges that are no launch"];
    TRY_VOID(count_arguments(run_, report_));
    steps_.count(report_);
    TRY_VOID(about(options));
    return strings();
  }

 private:
  std::int64_t text(std::string_view name) { return strings_.intern(name).value; }

  // Nsight's own process number, which need not be the system's: two hosts may have the same one.
  static std::int64_t process_of(std::uint32_t rank) {
    return nsys_machine | ((rank + std::int64_t{1}) & thread_bits) << 24;
  }
  static std::int64_t thread_of(const Track& track, TrackId id) {
    return process_of(track.rank) |
           ((track.thread.value_or(0) != 0 ? *track.thread : id.value + std::int64_t{1}) & thread_bits);
  }

  NsysInteger correlation_of(const SliceRow& row) const {
    if (correlations_) return row.correlation();
    if (const SliceId launch = flows_.launch_of(row.id)) return launch.value;
    return flows_.launches(row.id) ? NsysInteger(row.id.value) : std::nullopt;
  }

  // A value that its column must have.
  std::int64_t known(NsysInteger value, std::string_view column) {
    if (!value) unknown_.insert(std::string(column));
    return value.value_or(0);
  }
  template <class T>
  static NsysInteger wide(const std::optional<T>& value) {
    return value ? NsysInteger(static_cast<std::int64_t>(*value)) : std::nullopt;
  }

  Result<void> slice(const SliceRow& row) {
    const Track& track = run_.track(row.slice);
    const bool host = track.kind == TrackKind::Host;
    steps_.see(row, track);
    if (row.collective) ++report_.left_out["descriptions of collectives (communicator, number, bytes)"];
    if (track.kind == TrackKind::Stream || track.kind == TrackKind::CopyEngine) return device_work(row, track);
    if (host && (row.call || row.slice.family == Family::HostApi)) return call(row, track);
    if (host && row.slice.family == Family::Stream && !track.device) return call(row, track);
    if (track.kind == TrackKind::Range) return range(row, track);
    ++report_.left_out[host ? "slices of hosts that are no API call"
                            : fmt::format("slices of {} tracks", name_of(track.kind))];
    return {};
  }

  Result<void> device_work(const SliceRow& row, const Track& track) {
    ++report_.slices;
    const bool memory = row.copy || row.slice.family == Family::Memory;
    const bool memset = row.copy ? row.copy->memset : row.name.starts_with("mem");
    const std::string_view table = !memory ? "KERNEL" : memset ? "MEMSET" : "MEMCPY";
    const auto column = [&](std::string_view name) { return fmt::format("{}.{}", table, name); };
    const NsysRow<8> common{floor_ns(row.slice.start),
                            floor_ns(row.slice.end()),
                            track.device.value_or(track.rank),
                            known(track.context, column("contextId")),
                            std::nullopt,
                            track.stream.value_or(row.slice.track.value),
                            correlation_of(row),
                            process_of(track.rank)};
    const auto with = [&]<std::size_t n>(NsysRow<n> own) {
      NsysRow<8 + n> all;
      std::copy(common.begin(), common.end(), all.begin());
      std::copy(own.begin(), own.end(), all.begin() + 8);
      return all;
    };
    if (memory) {
      const CopyDetail copy = row.copy.value_or(CopyDetail{});
      const std::int64_t bytes = known(copy.bytes, column("bytes"));
      if (memset)
        return memsets_.add(database_, with(NsysRow<4>{known(wide(copy.memset_value), column("value")), bytes,
                                                       copy.graph_node, wide(copy.destination_kind)}));
      return copies_.add(database_,
                         with(NsysRow<13>{bytes, wide(copy.copy_kind).value_or(0), std::nullopt, wide(copy.source_kind),
                                          wide(copy.destination_kind), wide(copy.source_device), std::nullopt,
                                          wide(copy.destination_device), std::nullopt, std::nullopt, copy.graph_node,
                                          std::nullopt, std::nullopt}));
    }
    const KernelDetail kernel = row.kernel.value_or(KernelDetail{});
    const auto dim = [&](const std::optional<LaunchDims>& dims, std::size_t i, std::string_view name) {
      return known(dims ? NsysInteger((*dims)[i]) : std::nullopt, column(name));
    };
    const auto cluster = [&](std::size_t i) {
      return kernel.cluster ? NsysInteger((*kernel.cluster)[i]) : std::nullopt;
    };
    const std::int64_t short_name = text(row.name);
    return kernels_.add(
        database_, with(NsysRow<31>{kernel.demangled_name ? text(run_.head().text(kernel.demangled_name)) : short_name,
                                    short_name,
                                    std::nullopt,
                                    std::nullopt,
                                    std::nullopt,
                                    known(wide(kernel.registers_per_thread), column("registersPerThread")),
                                    dim(kernel.grid, 0, "gridX"),
                                    dim(kernel.grid, 1, "gridY"),
                                    dim(kernel.grid, 2, "gridZ"),
                                    dim(kernel.block, 0, "blockX"),
                                    dim(kernel.block, 1, "blockY"),
                                    dim(kernel.block, 2, "blockZ"),
                                    known(wide(kernel.static_shared_bytes), column("staticSharedMemory")),
                                    known(wide(kernel.dynamic_shared_bytes), column("dynamicSharedMemory")),
                                    known({}, column("localMemoryPerThread")),
                                    known({}, column("localMemoryTotal")),
                                    known({}, column("gridId")),
                                    std::nullopt,
                                    kernel.graph_node,
                                    std::nullopt,
                                    std::nullopt,
                                    std::nullopt,
                                    std::nullopt,
                                    kernel.graph,
                                    cluster(0),
                                    cluster(1),
                                    cluster(2),
                                    std::nullopt,
                                    std::nullopt,
                                    std::nullopt,
                                    std::nullopt}));
  }

  Result<void> call(const SliceRow& row, const Track& track) {
    ++report_.slices;
    const NsysInteger returned = row.call ? row.call->return_value : std::nullopt;
    threads_.emplace(thread_of(track, row.slice.track), track.name);
    return calls_.add(database_,
                      {floor_ns(row.slice.start), floor_ns(row.slice.end()), 0, thread_of(track, row.slice.track),
                       correlation_of(row), text(row.name), known(returned, "RUNTIME.returnValue"), std::nullopt});
  }

  Result<void> range(const SliceRow& row, const Track& track) {
    ++report_.slices;
    return ranges_.add(database_, {floor_ns(row.slice.start),
                                   floor_ns(row.slice.end()),
                                   push_pop_range,
                                   {},
                                   {},
                                   {},
                                   {},
                                   thread_of(track, row.slice.track),
                                   {},
                                   text(row.name),
                                   0,
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {},
                                   {}});
  }

  Result<void> about(const ExportOptions& options) {
    TRY(sqlite::Statement thread, database_.prepare("INSERT INTO ThreadNames VALUES(?, NULL, ?)"));
    for (const auto& [id, name] : threads_) TRY_VOID(thread.run(text(name), id));
    TRY(sqlite::Statement process, database_.prepare("INSERT INTO PROCESSES VALUES(?, ?, ?)"));
    TRY(sqlite::Statement gpu,
        database_.prepare("INSERT INTO TARGET_INFO_GPU(vmId, id, name, uuid, cuDevice) VALUES(?, ?, ?, ?, ?)"));
    std::set<std::int64_t> devices;
    for (const RankInfo& rank : run_.head().ranks()) {
      if (!run_.filter().has_rank(rank.rank)) continue;
      TRY_VOID(process.run(process_of(rank.rank), rank.pid, fmt::format("rank {}", rank.rank)));
      const auto none_if_empty = [](const std::string& value) {
        return value.empty() ? std::nullopt : std::optional<std::string_view>(value);
      };
      if (rank.device && (!rank.gpu.empty() || !rank.gpu_uuid.empty()) && devices.insert(*rank.device).second)
        TRY_VOID(
            gpu.run(nsys_machine, *rank.device, none_if_empty(rank.gpu), none_if_empty(rank.gpu_uuid), *rank.device));
    }
    TRY(const RunCursor::Extent extent, run_.extent());
    if (extent.slices > 0) {
      TRY(sqlite::Statement details, database_.prepare("INSERT INTO ANALYSIS_DETAILS VALUES(?, ?, 0, ?)"));
      const std::int64_t end = floor_ns(extent.span.end);
      TRY_VOID(details.run(nsys_machine, end, end));
    }
    if (options.base_unix_ns) {
      TRY(sqlite::Statement start,
          database_.prepare("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?, NULL, NULL, NULL)"));
      TRY_VOID(start.run(*options.base_unix_ns));
    }
    for (const nsys_schema::Words& words : nsys_schema::words()) {
      TRY(sqlite::Statement word, database_.prepare(fmt::format("INSERT INTO {} VALUES(?, ?, ?)", words.table)));
      for (const nsys_schema::Word& row : words.rows)
        TRY_VOID(word.run(row.id, std::string_view(row.name), std::string_view(row.label)));
    }
    TRY(sqlite::Statement meta, database_.prepare("INSERT INTO META_DATA_EXPORT VALUES(?, ?)"));
    std::string zeros;
    for (const std::string& column : unknown_) zeros += (zeros.empty() ? "" : " ") + column;
    for (const auto& [name, value] : {std::pair<std::string_view, std::string_view>{"EXPORT_PRODUCT_NAME", "Stave"},
                                      {"EXPORT_PRODUCT_VERSION", STAVE_VERSION},
                                      {"EXPORT_SCHEMA_VERSION", nsys_schema::version},
                                      {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
                                      {"EXPORT_SCHEMA_VERSION_MINOR", "24"},
                                      {"EXPORT_SCHEMA_VERSION_MICRO", "14"},
                                      {"STAVE_RUN", options.title},
                                      {"STAVE_ZERO_IS_UNKNOWN", zeros}})
      TRY_VOID(meta.run(name, value));
    return {};
  }

  Result<void> strings() {
    TRY(sqlite::Statement insert, database_.prepare("INSERT INTO StringIds VALUES(?, ?)"));
    for (std::size_t i = 0; i < strings_.size(); ++i) TRY_VOID(insert.run(i, strings_[StringId{i}]));
    return {};
  }

  RunCursor& run_;
  sqlite::Database& database_;
  RunFlows flows_;
  bool correlations_;
  ExportReport& report_;
  StepRanges steps_;
  Strings strings_;
  std::map<std::int64_t, std::string> threads_;
  std::set<std::string> unknown_;
  NsysTable<39> kernels_{"CUPTI_ACTIVITY_KIND_KERNEL"};
  NsysTable<21> copies_{"CUPTI_ACTIVITY_KIND_MEMCPY"};
  NsysTable<12> memsets_{"CUPTI_ACTIVITY_KIND_MEMSET"};
  NsysTable<8> calls_{"CUPTI_ACTIVITY_KIND_RUNTIME"};
  NsysTable<20> ranges_{"NVTX_EVENTS"};
};

}  // namespace

Result<ExportReport> export_nsys(RunCursor& run, const ExportOptions& options, const std::string& path,
                                 Progress* progress) {
  ExportReport report;
  TRY(RunFlows flows, run.flows());
  TRY(const bool correlations, run.has_correlations());
  TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Access::Create));
  // Nobody reads it before it is whole.
  TRY_VOID(database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096;"));
  TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
  {
    NsysWriter writer(run, database, std::move(flows), correlations, report);
    TRY_VOID(writer.write(options, progress));
  }
  TRY_VOID(transaction.commit());
  TRY_VOID(database.close());
  return report;
}

}  // namespace stave
