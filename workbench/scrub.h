// Takes out of a run file, or of an export of Nsight Systems, what says who made
// it and where, before it is shared. What stays is on a list; all else goes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace stave {

struct ScrubJob {
  std::string input{};
  std::string output{};
  bool replace = false;  // an output that is there
};

struct Scrubbed {
  std::string kind{};  // "run" or "nsys"
  // What, as for in_number(), and how many.
  std::map<std::string, std::int64_t> left_out{};  // of the input, and not in the output
  std::map<std::string, std::int64_t> replaced{};  // in texts that stay: "[user|users]", "absolute [path|paths]"
  Problems problems{};
};

// The output is written anew, as NAME.partial at first, so that nothing of the
// input is in free pages of it. STV0970: neither a run file nor an export.
// STV0971: the output is the input or exists. STV0950: cancelled, nothing is kept.
Result<Scrubbed> scrub(const ScrubJob& job, Progress* progress);

bool is_output_problem(const Problem& problem, const ScrubJob& job);
std::string scrub_text(const Scrubbed& scrubbed, const ScrubJob& job);
// schema stave.scrub/1.
std::string scrub_json(const Scrubbed& scrubbed, const ScrubJob& job);

}  // namespace stave
