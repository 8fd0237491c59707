#include "workbench/nsys_export.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace stave {
namespace {

namespace fs = std::filesystem;

Result<void> run(std::vector<std::string> arguments, const std::string& file, Progress* progress) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // Standard output is ours: with --json it holds one document.
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return error_at({.file = file}, "STV0735", "cannot start {}: {}; is Nsight Systems installed and on the PATH?",
                    arguments[0], std::strerror(failed));
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR)
      return error_at({.file = file}, "STV0735", "cannot wait for {}: {}", arguments[0], std::strerror(errno));
    if (Result<void> wanted = still_wanted(progress); !wanted) {
      ::kill(child, SIGTERM);
      ::waitpid(child, &status, 0);
      return wanted;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return error_at({.file = file}, "STV0735", "{} export failed with {} {}", arguments[0],
                  WIFEXITED(status) ? "exit code" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

}  // namespace

NsysExports::~NsysExports() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<void> NsysExports::replace_reports(std::vector<std::string>& files, Progress* progress) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string report = files[i];
    if (!report.ends_with(".nsys-rep") && !report.ends_with(".qdrep")) continue;
    std::error_code error;
    if (!fs::is_regular_file(report, error)) return error_at({.file = report}, "STV0001", "cannot read: no such file");
    if (folder_.empty()) {
      std::string pattern = (fs::temp_directory_path(error) / "stave-nsys-XXXXXX").string();
      if (::mkdtemp(pattern.data()) == nullptr)
        return error_at({.file = pattern}, "STV0002", "cannot make a folder: {}", std::strerror(errno));
      folder_ = pattern;
    }
    // A name of its own for each, that still says its rank.
    const std::string folder = folder_ + "/" + std::to_string(i);
    fs::create_directory(folder, error);
    const std::string database = folder + "/" + fs::path(report).stem().string() + ".sqlite";
    // A path that begins with a dash is no option.
    const std::string named = report.starts_with('-') ? "./" + report : report;
    TRY_VOID(run({"nsys", "export", "--type", "sqlite", "--force-overwrite", "true", "--output", database, named},
                 report, progress));
    if (!fs::is_regular_file(database, error))
      return error_at({.file = report}, "STV0735", "nsys export wrote no database");
    files[i] = database;
  }
  return {};
}

}  // namespace stave
