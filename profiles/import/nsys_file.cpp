#include "profiles/import/nsys_file.h"

#include <algorithm>
#include <charconv>

#include "profiles/import/kineto_kinds.h"
#include "profiles/import/repeated_ranges.h"

namespace stave {
namespace {

// The tables with device work, and whether they name kernels.
constexpr std::string_view device_tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                              "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                              "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

}  // namespace

std::optional<Time> nsys_time(std::int64_t nanoseconds) {
  constexpr auto most = static_cast<std::int64_t>(most_apart / ps_per_ns);
  if (nanoseconds > most || nanoseconds < -most) return std::nullopt;
  return Time{nanoseconds * 1000};
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

NsysText& NsysFile::text(const sqlite::Statement& row, int column, NsysText& own) {
  std::optional<std::int64_t> id;
  if (row.is_integer(column)) {
    id = row.integer(column);
  } else {
    // Columns of type TEXT hold ids as digits.
    const std::string_view digits = row.text(column);
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error == std::errc{} && end == digits.data() + digits.size()) id = n;
  }
  const auto at = id ? strings_.find(*id) : strings_.end();
  if (at != strings_.end()) return at->second;
  own = {.text = std::string(row.text(column).substr(0, most_text))};
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
    TRY(const bool row, rows.step());
    if (!row) return {};
    strings_.try_emplace(rows.integer(0), NsysText{.text = std::string(rows.text(1).substr(0, most_text))});
  }
}

Result<void> NsysFile::find_processes(Progress* progress) {
  std::optional<Time> first;
  std::map<std::int64_t, NsysProcess> found;
  NsysText own;
  for (const std::string_view table : device_tables)
    if (!tables_.table(table).empty() && !tables_.has(table, "globalPid")) tells_processes_ = false;
  const auto starts = [&](Time start) {
    ++rows_;
    if (start.count() >= 0 && (!first || start < *first)) first = start;
  };
  for (const std::string_view table : device_tables) {
    const bool kernels = table == "CUPTI_ACTIVITY_KIND_KERNEL";
    const bool waits = table == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    const std::string sql =
        tables_.select(table, std::vector<std::string_view>{"start", "end", "globalPid", "correlationId", "deviceId",
                                                            "shortName", "demangledName"});
    if (sql.empty()) continue;
    TRY(sqlite::Statement rows, database_.prepare(sql));
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      const std::optional<Time> start = nsys_time(rows.integer(0)), end = nsys_time(rows.integer(1));
      if (!start || !end) continue;
      starts(*start);
      if (rows_ % 65536 == 0) TRY_VOID(still_wanted(progress));
      NsysProcess& process = found[tells_processes_ ? rows.integer(2) & ~thread_mask : 0];
      if (const auto correlation = rows.maybe_integer(3)) process.needed.push_back(*correlation);
      if (waits) continue;
      if (const auto device = rows.maybe_integer(4); device && (!process.device || *device < *process.device))
        process.device = *device;
      if (!kernels) continue;
      NsysText& name = text(rows, rows.is_null(5) ? 6 : 5, own);
      if (!name.collective()) continue;
      CollectiveSpan span;
      span.start = start->count();
      span.end = std::max(*start, *end).count();
      process.collectives.add("", collective_op(name.text), span);
    }
  }
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    const std::string sql = tables_.select(table, std::vector<std::string_view>{"start"});
    if (sql.empty()) continue;
    TRY(sqlite::Statement rows, database_.prepare(sql));
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      if (const std::optional<Time> start = nsys_time(rows.integer(0))) starts(*start);
      if (rows_ % 65536 == 0) TRY_VOID(still_wanted(progress));
    }
  }
  start_ = first.value_or(Time{});
  // Only waits: no rank of its own.
  std::erase_if(found, [](const auto& process) { return !process.second.device; });
  for (auto& [id, process] : found) {
    process.id = id;
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
  const std::string sql = tables_.select(
      "NVTX_EVENTS", std::vector<std::string_view>{"start", "end", "globalTid", "text", "textId", "eventType"});
  if (sql.empty()) return {};
  std::map<std::int64_t, RepeatedRanges> by_process;
  std::map<std::int64_t, RepeatedRanges::Choice> choices;
  NsysText own;
  for (const bool choosing : {true, false}) {
    TRY(sqlite::Statement rows, database_.prepare(sql + " ORDER BY 1"));
    std::map<std::int64_t, std::uint32_t> next;
    for (std::int64_t n = 1;; ++n) {
      TRY(const bool row, rows.step());
      if (!row) break;
      if (n % 65536 == 0) TRY_VOID(still_wanted(progress));
      const std::int64_t type = rows.is_null(5) ? 59 : rows.integer(5);
      const std::optional<Time> start = nsys_time(rows.integer(0)), end = nsys_time(rows.integer(1));
      if ((type != 59 && type != 60) || rows.is_null(1) || !start || !end || *end < *start || start->count() < 0)
        continue;
      NsysProcess& process = this->process(rows.maybe_integer(2));
      const std::string_view name =
          rows.is_null(3) ? std::string_view(text(rows, 4, own).text) : rows.text(3).substr(0, most_text);
      if (choosing) {
        by_process[process.id].add(rows.integer(2), name, *start, *end);
        continue;
      }
      const auto choice = choices.find(process.id);
      if (choice == choices.end() || choice->second.thread != rows.integer(2)) continue;
      const RangeKind kind = range_kind(name);
      if (kind.name != choice->second.name) continue;
      process.steps.push_back({kind.number.value_or(next[process.id]++), *start, *end});
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
  TRY(file.tables_, NsysTables::read(file.database_));
  TRY_VOID(file.read_strings());
  TRY_VOID(file.find_processes(progress));
  TRY_VOID(file.find_steps(progress));
  const std::string sql =
      file.tables_.select("TARGET_INFO_SESSION_START_TIME", std::vector<std::string_view>{"utcEpochNs"});
  if (!sql.empty()) {
    TRY(sqlite::Statement row, file.database_.prepare(sql));
    TRY(const bool any, row.step());
    if (any && row.integer(0) > 0) file.unix_ns_ = row.integer(0);
  }
  return file;
}

}  // namespace stave
