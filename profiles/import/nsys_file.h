// One export of Nsight Systems, looked through once: its processes, and what
// has to be known of each before the first row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "profiles/import/collective_match.h"
#include "profiles/import/host_waits.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/import/nsys_reader.h"

namespace stave {

// Nsight's ids of processes and threads: a process number above 24 bits of a thread.
inline constexpr std::int64_t thread_mask = 0xffffff;
// A call with its correlation id, if something on a device or a wait names that id.
struct LaunchCall {
  std::int64_t correlation = 0;
  Time start{};
  SliceId slice{};
};

// A text of StringIds, with what was found out about it: most rows name few texts.
struct NsysText {
  std::string text{};
  StringId name{};                 // the run's, once a row had it
  std::optional<Family> family{};  // as the name of a kernel
  std::optional<HostWait> wait{};  // as the name of a call

  bool collective() { return kernel_family() == Family::Collective; }
  Family kernel_family();
  HostWait host_wait();
};

// A process with work on a device is a rank. Times are the file's own.
struct NsysProcess {
  std::int64_t id = 0;  // globalPid; 0 where the file does not tell processes apart
  std::optional<std::int64_t> device{};
  std::vector<std::int64_t> needed{};  // correlation ids that device work or waits name, sorted
  std::vector<LaunchCall> launches{};  // by correlation, once its API rows were read
  std::vector<ProbedStep> steps{};     // by start
  Collectives collectives{};

  // Rows come nearly in the order of their ids: the next one is looked at first.
  bool needs(std::int64_t correlation);
  LaunchCall* launch(std::int64_t correlation);
  StepNumber step_at(Time time) const;

  std::size_t next_needed = 0;
  std::size_t next_launch = 0;
};

class NsysFile {
 public:
  static Result<NsysFile> open(const std::string& path, Progress* progress);

  sqlite::Database& database() { return database_; }
  const NsysTables& tables() const { return tables_; }
  const std::string& path() const { return database_.path(); }

  // Of a row's globalPid or globalTid. Rows of other processes go to the first.
  NsysProcess& process(std::optional<std::int64_t> global_id);
  std::vector<NsysProcess>& processes() { return processes_; }
  bool tells_processes() const { return tells_processes_; }

  // The text of a name column, which holds an id of StringIds or the text itself.
  // It is the file's, or `own`, which is overwritten.
  NsysText& text(const NsysRecord& row, int column, NsysText& own);

  // Of the file, or of its texts, without which names are numbers. "": none that was seen before the rows.
  const std::string& damage() const { return damage_; }
  std::int64_t rows() const { return rows_; }  // of the tables that are read
  Time start() const { return start_; }        // of the first row that is not warm-up
  std::optional<std::int64_t> unix_ns() const { return unix_ns_; }
  // "" if the file does not say.
  std::string gpu(std::int64_t device, const char* column);

 private:
  explicit NsysFile(sqlite::Database database) : database_(std::move(database)) {}
  Result<void> find_processes(Progress* progress);
  Result<void> find_steps(Progress* progress);
  Result<void> read_strings();
  // An error of the file, not of the work on it.
  bool is_damage(const Problems& problems) const { return problems[0].place.file == path(); }
  NsysText* string(std::int64_t id);

  sqlite::Database database_;
  sqlite::Access access_ = sqlite::Access::Read;
  NsysTables tables_;
  std::vector<NsysProcess> processes_;
  bool tells_processes_ = true;
  std::unordered_map<std::int64_t, NsysText> strings_;
  std::vector<NsysText*> small_ids_;  // of strings_, by id: most ids count from 0
  std::string damage_;
  std::int64_t rows_ = 0;
  Time start_{};
  std::optional<std::int64_t> unix_ns_;
};

// Nanoseconds of a row; none beyond 50 days, or where it is no number.
std::optional<Time> nsys_time(std::optional<std::int64_t> nanoseconds);
// Start and end, its first two columns. In a table without ends, 0 is one.
std::optional<std::pair<Time, Time>> nsys_times(const NsysRecord& row);

}  // namespace stave
