// The verbs of the command line: one file each, one line in the table.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <string_view>

#include "cli/common.h"

namespace stave::cli {

using Run = std::function<int()>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view example;      // runs in the source tree; ends the verb's help
  Run (*define)(CLI::App& app);  // adds the options; the result runs the verb and gives the exit code
};

std::span<const Verb> verbs();

Run define_check(CLI::App& app);
Run define_fmt(CLI::App& app);
Run define_run(CLI::App& app);
Run define_sim(CLI::App& app);
Run define_report(CLI::App& app);
Run define_compare(CLI::App& app);
Run define_import(CLI::App& app);
Run define_export(CLI::App& app);
Run define_scrub(CLI::App& app);
Run define_docs(CLI::App& app);
Run define_machines(CLI::App& app);
Run define_new(CLI::App& app);
Run define_demo(CLI::App& app);
Run define_doctor(CLI::App& app);
Run define_completions(CLI::App& app);
Run define_help(CLI::App& app);

// Says that there is no such verb, and which one may be meant (STV0901).
int unknown_verb(std::string_view name, const OutputOptions& output);

}  // namespace stave::cli
