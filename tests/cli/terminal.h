// The real program with its stderr on a terminal, to watch and to interrupt.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/program.h"

namespace stave {

// Containers without /dev/pts have none.
inline bool has_terminals() {
  int pty = -1, other = -1;
  if (::openpty(&pty, &other, nullptr, nullptr, nullptr) != 0) return false;
  ::close(pty);
  ::close(other);
  return true;
}

class OnTerminal {
 public:
  // Starts it in the program's folder, without `terminal` with its stderr in a file.
  // Needs has_terminals().
  OnTerminal(const Program& program, const std::vector<std::string>& arguments, bool terminal = true)
      : out_(logs_ / "out"), err_(logs_ / "err") {
    int other = -1;
    // Without a child, kill() below would reach every process there is.
    if (::openpty(&pty_, &other, nullptr, nullptr, nullptr) != 0 || (pid_ = ::fork()) < 0) {
      std::perror("a program on a terminal");
      std::abort();
    }
    if (pid_ != 0) {
      ::close(other);
      return;
    }
    // Not inherited from a test that runs in the background.
    ::signal(SIGINT, SIG_DFL);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT, 0666), 1);
    ::dup2(terminal ? other : ::open(err_.c_str(), O_WRONLY | O_CREAT, 0666), 2);
    ::close(pty_);
    std::vector<char*> words{const_cast<char*>(STAVE_BINARY)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    if (::chdir(program.folder().path().c_str()) == 0) ::execv(STAVE_BINARY, words.data());
    ::_exit(127);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
    ::close(pty_);
  }

  // Reads until the terminal shows `text`; false: it ended, or a minute passed.
  bool shows(const std::string& text) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
         std::chrono::steady_clock::now() < end && screen_.find(text) == std::string::npos;)
      if (!read()) return false;
    return screen_.find(text) != std::string::npos;
  }

  // Until it handles SIGINT, and then, if not told otherwise, so long that a progress line would show.
  void let_it_work(std::chrono::milliseconds time = std::chrono::milliseconds(1500)) const {
    while (!handles_interrupt() && !over()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(time);
  }

  Ran interrupt() {
    ::kill(pid_, SIGINT);
    return wait();
  }

  Ran wait() {
    while (read()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), file_text(out_),
            screen_ + file_text(err_)};
  }

 private:
  bool read() {
    char bytes[4096];
    const ssize_t n = ::read(pty_, bytes, sizeof bytes);
    if (n > 0) screen_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  }
  // A line of /proc/PID/status without its key.
  std::string status(const std::string& key) const {
    std::istringstream lines(file_text("/proc/" + std::to_string(pid_) + "/status"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(key)) return line.substr(key.size());
    return "";
  }
  bool handles_interrupt() const {
    const std::string caught = status("SigCgt:");
    return !caught.empty() && (std::stoull(caught, nullptr, 16) >> (SIGINT - 1) & 1);
  }
  bool over() const { return status("State:").find_first_of("ZX") != std::string::npos; }

  TempFolder logs_;
  std::string out_, err_;
  int pty_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

}  // namespace stave
