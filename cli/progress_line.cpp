#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace stave::cli {
namespace {

constexpr std::chrono::milliseconds first_after{1000}, then_every{200};
constexpr std::string_view erase_line = "\r\x1b[K";

// What the signal handler may touch.
std::atomic<bool> interrupt_asked{false};

extern "C" void on_interrupt(int) { interrupt_asked = true; }

}  // namespace

ProgressLine::ProgressLine(const OutputOptions& output) {
  interrupt_asked = false;
  progress.cancel = &interrupt_asked;
  struct sigaction before {};
  ::sigaction(SIGINT, nullptr, &before);
  // Who starts us with SIGINT ignored, such as nohup, means it.
  if (before.sa_handler != SIG_IGN) {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    hears_ = ::sigaction(SIGINT, &action, nullptr) == 0;
  }
  if (!output.quiet && ::isatty(STDERR_FILENO) == 1)
    thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

void ProgressLine::show(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto never = [] { return false; };
  wake_.wait_for(lock, stop, first_after, never);
  while (!stop.stop_requested()) {
    note(fmt::format("{}{}{}", erase_line, progress_text(progress), progress.cancelled() ? ", stopping" : ""));
    shown_ = true;
    wake_.wait_for(lock, stop, then_every, never);
  }
}

void ProgressLine::erase() {
  if (shown_) note(erase_line);
  shown_ = false;
}

void ProgressLine::say(std::string_view text) {
  const std::lock_guard lock(mutex_);
  erase();
  note(text);
}

void ProgressLine::end() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  erase();
  if (hears_) ::signal(SIGINT, SIG_DFL);
  hears_ = false;
}

std::string progress_text(const Progress& progress) {
  std::string text = progress.job.load();
  const std::int64_t commands = progress.commands, done = progress.done, total = progress.total;
  const char* before = ": ";
  if (total > 0) {
    text += fmt::format("{}{} %", before,
                        std::min<std::int64_t>(99, static_cast<std::int64_t>(100.0 * static_cast<double>(done) /
                                                                             static_cast<double>(total))));
    before = ", ";
  }
  if (commands > 0) text += fmt::format("{}{} commands", before, commands);
  return text;
}

int interrupted(std::string_view code, std::string kept, const OutputOptions& output) {
  return fail({{Severity::Error, std::string(code), "interrupted: " + std::move(kept), {}, {}}}, output,
              exit_interrupted);
}

}  // namespace stave::cli
