#include "profiles/import/nsys_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>

#include "profiles/import/kineto_kinds.h"
#include "profiles/import/repeated_ranges.h"

namespace stave {
namespace {

// The tables with device work, and whether they name kernels.
constexpr std::string_view device_tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                              "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                              "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

constexpr auto most_ns = static_cast<std::int64_t>(most_apart / ps_per_ns);

// Of the rows whose start is a time: how many, and the first that is not warm-up.
struct Starts {
  std::int64_t rows = 0;
  std::optional<Time> first{};

  void add(const Starts& more) {
    rows += more.rows;
    if (more.first && (!first || *more.first < *first)) first = more.first;
  }
};

// Of what the queries select. On a connection of its own: it runs beside a look at other tables.
Result<Starts> starts_of(const std::string& path, sqlite::Access access, const std::vector<std::string>& queries) {
  TRY(sqlite::Database database, sqlite::Database::open(path, access));
  Starts all;
  for (const std::string& query : queries) {
    TRY(sqlite::Statement one,
        database.prepare(fmt::format("WITH found(s) AS ({}) SELECT count(*), min(CASE WHEN n >= 0 THEN n END) FROM "
                                     "(SELECT CAST(s AS INTEGER) AS n FROM found WHERE typeof(s) <> 'text' OR "
                                     "s GLOB '[0-9]*') WHERE n BETWEEN {} AND {}",
                                     query, -most_ns, most_ns)));
    // What a damaged table tells is found out when its rows are read.
    if (const Result<bool> told = one.step(); !told) continue;
    Starts starts{.rows = one.integer(0)};
    if (!one.is_null(1)) starts.first = nsys_time(one.integer(1));
    all.add(starts);
  }
  return all;
}

}  // namespace

std::optional<Time> nsys_time(std::optional<std::int64_t> nanoseconds) {
  if (!nanoseconds || *nanoseconds > most_ns || *nanoseconds < -most_ns) return std::nullopt;
  return Time{*nanoseconds * 1000};
}

std::optional<std::pair<Time, Time>> nsys_times(const NsysRecord& row) {
  const std::optional<Time> start = nsys_time(row.number(0)),
                            end = row.is_told(1) ? nsys_time(row.number(1)) : std::optional(Time{});
  if (!start || !end) return std::nullopt;
  return std::pair{*start, *end};
}

Family NsysText::kernel_family() {
  if (!family) family = stave::kernel_family(text);
  return *family;
}

HostWait NsysText::host_wait() {
  if (!wait) wait = stave::host_wait(text);
  return *wait;
}

bool NsysProcess::needs(std::int64_t correlation) {
  if (next_needed >= needed.size() || needed[next_needed] != correlation) {
    const auto at = std::lower_bound(needed.begin(), needed.end(), correlation);
    if (at == needed.end() || *at != correlation) return false;
    next_needed = static_cast<std::size_t>(at - needed.begin());
  }
  ++next_needed;
  return true;
}

LaunchCall* NsysProcess::launch(std::int64_t correlation) {
  if (next_launch >= launches.size() || launches[next_launch].correlation != correlation) {
    const auto at = std::lower_bound(launches.begin(), launches.end(), correlation,
                                     [](const LaunchCall& call, std::int64_t id) { return call.correlation < id; });
    if (at == launches.end() || at->correlation != correlation) return nullptr;
    next_launch = static_cast<std::size_t>(at - launches.begin());
  }
  return &launches[next_launch++];
}

StepNumber NsysProcess::step_at(Time time) const {
  auto at =
      std::upper_bound(steps.begin(), steps.end(), time, [](Time t, const ProbedStep& step) { return t < step.start; });
  if (at == steps.begin() || time >= (--at)->end) return {};
  return StepNumber{at->step};
}

NsysProcess& NsysFile::process(std::optional<std::int64_t> global_id) {
  if (tells_processes_ && global_id)
    for (NsysProcess& process : processes_)
      if (process.id == (*global_id & ~thread_mask)) return process;
  return processes_.front();
}

NsysText* NsysFile::string(std::int64_t id) {
  if (id >= 0 && static_cast<std::size_t>(id) < small_ids_.size()) return small_ids_[static_cast<std::size_t>(id)];
  const auto at = strings_.find(id);
  return at == strings_.end() ? nullptr : &at->second;
}

NsysText& NsysFile::text(const NsysRecord& row, int column, NsysText& own) {
  std::optional<std::int64_t> id;
  if (row.is_null(column)) {
    own = {};
    return own;
  }
  if (row.is_integer(column)) {
    id = row.integer(column);
  } else {
    // Columns of type TEXT hold ids as digits.
    const std::string_view digits = row.text(column);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error == std::errc{} && end == digits.data() + digits.size()) id = n;
  }
  if (id)
    if (NsysText* const known = string(*id)) return *known;
  own = {.text = row.written(column)};
  return own;
}

std::string NsysFile::gpu(std::int64_t device, const char* column) {
  const std::string sql = tables_.select("TARGET_INFO_GPU", std::vector<std::string_view>{"id", column});
  if (sql.empty()) return "";
  Result<sqlite::Statement> rows = database_.prepare(sql);
  if (!rows) return "";
  while (true) {
    const Result<bool> row = rows->step();
    if (!row || !*row) return "";
    if (rows->integer(0) == device) return std::string(rows->text(1).substr(0, 256));
  }
}

Result<void> NsysFile::read_strings() {
  const std::string sql = tables_.select("StringIds", std::vector<std::string_view>{"id", "value"});
  if (sql.empty()) return {};
  TRY(sqlite::Statement rows, database_.prepare(sql));
  while (true) {
    const Result<bool> row = rows.step();
    if (!row && damage_.empty()) damage_ = "StringIds: " + row.problems()[0].message;
    if (!row || !*row) break;
    strings_.try_emplace(rows.integer(0), NsysText{.text = std::string(rows.text(1).substr(0, most_text))});
  }
  small_ids_.resize(2 * strings_.size());
  for (auto& [id, text] : strings_)
    if (id >= 0 && static_cast<std::size_t>(id) < small_ids_.size()) small_ids_[static_cast<std::size_t>(id)] = &text;
  return {};
}

Result<void> NsysFile::find_processes(Progress* progress) {
  std::vector<std::string> of_host;
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"})
    if (!tables_.table(table).empty()) of_host.push_back(tables_.select(table, std::vector<std::string_view>{"start"}));
  std::future<Result<Starts>> host_starts =
      std::async(std::launch::async, [this, &of_host] { return starts_of(path(), access_, of_host); });
  Starts starts;
  std::map<std::int64_t, NsysProcess> found;
  NsysText own;
  for (const std::string_view table : device_tables)
    if (!tables_.table(table).empty() && !tables_.has(table, "globalPid")) tells_processes_ = false;
  for (const std::string_view table : device_tables) {
    const bool kernels = table == "CUPTI_ACTIVITY_KIND_KERNEL";
    const bool waits = table == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    std::vector<std::string_view> columns{"start", "end", "globalPid", "correlationId", "deviceId"};
    if (kernels) columns.insert(columns.end(), {"shortName", "demangledName"});
    TRY(NsysReader reader, NsysReader::open(database_, tables_, table, columns));
    std::int64_t last_id = 0;
    NsysProcess* last = nullptr;
    while (true) {
      const Result<const NsysBlock*> next = reader.next();
      if (!next && !is_damage(next.problems())) return Failure(next.problems());
      if (!next || *next == nullptr) break;
      const NsysBlock* const block = *next;
      TRY_VOID(still_wanted(progress));
      for (std::size_t i = 0; i < block->rows; ++i) {
        const NsysRecord row = reader.row(*block, i);
        const auto times = nsys_times(row);
        if (!times) continue;
        const auto [start, end] = *times;
        starts.add({1, start.count() >= 0 ? std::optional(start) : std::nullopt});
        const std::int64_t id = tells_processes_ ? row.integer(2) & ~thread_mask : 0;
        if (last == nullptr || id != last_id) {
          last = &found[id];
          last_id = id;
        }
        if (const auto correlation = row.maybe_integer(3)) last->needed.push_back(*correlation);
        if (waits) continue;
        if (const auto device = row.maybe_integer(4); device && (!last->device || *device < *last->device))
          last->device = *device;
        if (!kernels) continue;
        NsysText& name = text(row, row.is_null(5) ? 6 : 5, own);
        if (!name.collective()) continue;
        CollectiveSpan span;
        span.start = start.count();
        span.end = std::max(start, end).count();
        last->collectives.add("", collective_op(name.text), span);
      }
    }
  }
  TRY(const Starts host, host_starts.get());
  starts.add(host);
  rows_ = starts.rows;
  start_ = starts.first.value_or(Time{});
  // Only waits: no rank of its own.
  std::erase_if(found, [](const auto& process) { return !process.second.device; });
  for (auto& [id, process] : found) {
    process.id = id;
    if (!std::is_sorted(process.needed.begin(), process.needed.end()))
      std::sort(process.needed.begin(), process.needed.end());
    process.needed.erase(std::unique(process.needed.begin(), process.needed.end()), process.needed.end());
    processes_.push_back(std::move(process));
  }
  if (processes_.empty()) processes_.emplace_back();
  std::stable_sort(processes_.begin(), processes_.end(),
                   [](const NsysProcess& a, const NsysProcess& b) { return a.device < b.device; });
  return {};
}

// Two looks at the ranges: at what repeats, then at the times of what was chosen.
Result<void> NsysFile::find_steps(Progress* progress) {
  static constexpr std::string_view columns[] = {"start", "end", "globalTid", "text", "textId", "eventType"};
  std::map<std::int64_t, RepeatedRanges> by_process;
  std::map<std::int64_t, RepeatedRanges::Choice> choices;
  NsysText own;
  for (const bool choosing : {true, false}) {
    TRY(NsysReader reader, NsysReader::open(database_, tables_, "NVTX_EVENTS", columns, true));
    std::map<std::int64_t, std::uint32_t> next;
    const auto look = [&](const NsysRecord& row) {
      const std::int64_t type = row.is_null(5) ? 59 : row.integer(5);
      const std::optional<Time> start = nsys_time(row.number(0)), end = nsys_time(row.number(1));
      if ((type != 59 && type != 60) || row.is_null(1) || !start || !end || *end < *start || start->count() < 0) return;
      NsysProcess& process = this->process(row.maybe_integer(2));
      if (!row.is_null(3)) own = {.text = row.written(3)};
      const std::string_view name = row.is_null(3) ? text(row, 4, own).text : own.text;
      if (choosing) return by_process[process.id].add(row.integer(2), name, *start, *end);
      const auto choice = choices.find(process.id);
      if (choice == choices.end() || choice->second.thread != row.integer(2)) return;
      const RangeKind kind = range_kind(name);
      if (kind.name != choice->second.name) return;
      process.steps.push_back({kind.number.value_or(next[process.id]++), *start, *end});
    };
    while (true) {
      const Result<const NsysBlock*> block = reader.next();
      if (!block && !is_damage(block.problems())) return Failure(block.problems());
      if (!block || *block == nullptr) break;
      TRY_VOID(still_wanted(progress));
      for (std::size_t i = 0; i < (*block)->rows; ++i) look(reader.row(**block, i));
    }
    if (!choosing) break;
    for (const auto& [process, ranges] : by_process)
      if (const auto choice = ranges.choose()) choices.emplace(process, *choice);
    if (choices.empty()) break;
  }
  // A number that comes again is another step: then the order numbers them.
  for (NsysProcess& process : processes_) {
    std::vector<std::uint32_t> numbers;
    for (const ProbedStep& step : process.steps) numbers.push_back(step.step);
    std::sort(numbers.begin(), numbers.end());
    if (std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end()) continue;
    std::uint32_t next = 0;
    for (ProbedStep& step : process.steps) step.step = next++;
  }
  return {};
}

Result<NsysFile> NsysFile::open(const std::string& path, Progress* progress) {
  TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Access::Read));
  NsysFile file(std::move(database));
  Result<NsysTables> tables = NsysTables::read(file.database_);
  if (!tables && tables.problems()[0].code == "STV0706") {
    file.damage_ = tables.problems()[0].message;
    file.access_ = sqlite::Access::Salvage;
    TRY(file.database_, sqlite::Database::open(path, file.access_));
    tables = NsysTables::read(file.database_);
  }
  TRY(file.tables_, std::move(tables));
  TRY_VOID(file.read_strings());
  TRY_VOID(file.find_processes(progress));
  TRY_VOID(file.find_steps(progress));
  const std::string sql =
      file.tables_.select("TARGET_INFO_SESSION_START_TIME", std::vector<std::string_view>{"utcEpochNs"});
  if (!sql.empty()) {
    TRY(sqlite::Statement row, file.database_.prepare(sql));
    const Result<bool> any = row.step();
    if (any && *any && row.integer(0) > 0) file.unix_ns_ = row.integer(0);
  }
  return file;
}

}  // namespace stave
