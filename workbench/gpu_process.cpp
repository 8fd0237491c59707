#include "workbench/gpu_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

extern char** environ;

namespace stave {
namespace {

// Until the first step ends: connections, compilation and CUDA's own start are in it.
constexpr std::chrono::milliseconds preparation{300'000};
// Above a step's own timeout, after which the child itself reports a hang.
constexpr std::chrono::milliseconds grace{30'000};
// After its answer: it gives memory and connections back.
constexpr std::chrono::milliseconds farewell{10'000};

bool runs(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

Result<std::array<Fd, 2>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return error_at({}, "STV0941", "no pipe to the GPU process: {}", std::strerror(errno));
  return std::array<Fd, 2>{Fd(ends[0]), Fd(ends[1])};
}

struct Child {
  pid_t pid = -1;
  Fd to, from;

  Child() = default;
  Child(Child&& other) noexcept
      : pid(std::exchange(other.pid, -1)), to(std::move(other.to)), from(std::move(other.from)) {}
  ~Child() { stop(); }
  bool ends_within(std::chrono::milliseconds time) {
    const auto limit = std::chrono::steady_clock::now() + time;
    while (pid >= 0 && ::waitpid(pid, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pid = -1;
    return true;
  }
  // Kills it if it still runs; its wait status.
  int stop(bool kill_it = true) {
    if (pid < 0) return 0;
    if (kill_it) ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    return status;
  }
};

Result<Child> spawn(const std::string& program) {
  TRY(auto request, make_pipe());
  TRY(auto answer, make_pipe());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request[0].get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer[1].get(), gpu_pipe);
  char* arguments[] = {const_cast<char*>(program.c_str()), nullptr};
  Child child;
  const int error = ::posix_spawn(&child.pid, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    child.pid = -1;
    return error_at({.file = program}, "STV0941", "cannot be started: {}", std::strerror(error));
  }
  child.to = std::move(request[1]);
  child.from = std::move(answer[0]);
  return child;
}

Failure ended(int status, std::string_view phase) {
  if (WIFSIGNALED(status))
    return error_at({}, "STV0943", "the GPU process was ended by {} {}; what it had recorded until then is kept",
                    ::strsignal(WTERMSIG(status)), phase);
  return error_at({}, "STV0941", "the GPU process ended with {} {}, without an answer", WEXITSTATUS(status), phase);
}

}  // namespace

Result<std::string> find_stave_gpu() {
  if (const char* named = std::getenv("STAVE_GPU"); named != nullptr && *named != '\0') {
    if (runs(named)) return std::string(named);
    return error_at({.file = named}, "STV0940", "STAVE_GPU names no program that can run");
  }
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error)
    if (const std::string beside = (self.parent_path() / "stave-gpu").string(); runs(beside)) return beside;
  std::string_view left = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    if (const std::string path = std::string(left.substr(0, colon)) + "/stave-gpu"; runs(path)) return path;
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
  return error_at(
      {}, "STV0940",
      "this build has no GPU backend: stave-gpu is neither beside stave nor on PATH; it is built where CUDA 13, "
      "NCCL and CUPTI are found");
}

Result<GpuOutcome> run_gpu_process(const std::string& program, const GpuRequest& request, TimelineSink* sink,
                                   Progress* progress) {
  TRY(Child child, spawn(program));
  // A child that is gone must not end this process.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  const Result<void> sent = write_frame(child.to.get(), static_cast<std::uint32_t>(GpuFrame::Request), encode(request));
  ::sigaction(SIGPIPE, &before, nullptr);
  child.to.close();
  GpuOutcome outcome;
  std::string phase = "while it prepared";
  if (!sent) return ended(child.stop(), phase);
  auto heard = std::chrono::steady_clock::now();
  while (true) {
    pollfd ready{child.from.get(), POLLIN, 0};
    const int n = ::poll(&ready, 1, 100);
    TRY_VOID(still_wanted(progress));
    if (n <= 0) {
      const auto silence = std::chrono::steady_clock::now() - heard;
      const auto limit = outcome.steps.empty() ? preparation + request.timeout : request.timeout + grace;
      if (silence < limit) continue;
      child.stop();
      return error_at({}, "STV0942", "the GPU process was silent for {} s {} and was killed",
                      std::chrono::duration_cast<std::chrono::seconds>(silence).count(), phase);
    }
    TRY(const std::optional<PipeFrame> frame, read_frame(child.from.get()));
    heard = std::chrono::steady_clock::now();
    if (!frame) return ended(child.stop(false), phase);
    switch (static_cast<GpuFrame>(frame->kind)) {
      case GpuFrame::Gpu: outcome.gpu = frame->payload; break;
      case GpuFrame::Step: {
        TRY(GpuStep step, decode_step(frame->payload));
        phase = fmt::format("after step {}", step.number);
        outcome.steps.push_back(std::move(step));
        break;
      }
      case GpuFrame::Buffer: {
        TRY(GpuBuffer buffer, decode_buffer(frame->payload));
        outcome.buffers.push_back(std::move(buffer));
        break;
      }
      case GpuFrame::Done: {
        TRY(outcome.report, decode_report(frame->payload));
        if (outcome.report.hang || !child.ends_within(farewell)) child.stop();
        return outcome;
      }
      case GpuFrame::Failed: {
        TRY(Problems problems, decode_problems(frame->payload));
        child.stop();
        if (problems.empty()) return ended(0, phase);
        return Failure(std::move(problems));
      }
      default: {
        if (sink == nullptr) break;
        TRY(const bool rows, take_rows(*frame, *sink));
        if (!rows) return error_at({}, "STV0944", "the pipe to the GPU process: a message of kind {}", frame->kind);
      }
    }
  }
}

}  // namespace stave
