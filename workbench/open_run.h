// A stored run, opened.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "profiles/store_reader.h"
#include "workbench/report_json.h"

namespace stave {

struct OpenedRun {
  StoredRun run;
  Timeline timeline;
  RunLabel label;
  Problems problems;  // warnings: unfinished runs, what the recorder or importer counted
};

// `label` chooses among the runs of a file; none: its only or first one.
Result<OpenedRun> open_run(const std::string& path, const std::optional<std::string>& label = std::nullopt);

// What documents say about a run; `timeline` has its steps, `path` is as it was given.
RunLabel label_of(const StoredRun& run, const Timeline& timeline, const std::string& path);

}  // namespace stave
