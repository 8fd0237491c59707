// One line on stderr that says how far a long job is, and Ctrl-C as its end.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/common.h"
#include "core/base/progress.h"

namespace stave::cli {

// Ctrl-C cancels `progress` while this lives; a second one ends the program at
// once. The line comes after a second, where stderr is a terminal and nobody
// asked for quiet. One at a time.
class ProgressLine {
 public:
  explicit ProgressLine(const OutputOptions& output);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { end(); }

  Progress progress;

  // Text for stderr that stays.
  void say(std::string_view text);
  // Removes the line; Ctrl-C is again what it was.
  void end();

 private:
  void show(const std::stop_token& stop);
  void erase();

  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool shown_ = false;
  bool hears_ = false;  // SIGINT
  std::jthread thread_;
};

// "predicting: 41 %, 1200 commands"; what is not known is left out.
std::string progress_text(const Progress& progress);

// What an interrupted verb ends with: `kept` as one line on stderr, or as a
// stave.error/1 document with --json. Returns 130.
int interrupted(std::string_view code, std::string kept, const OutputOptions& output);

}  // namespace stave::cli
