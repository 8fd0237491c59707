#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "core/base/utf8.h"
#include "core/text/nearest.h"
#include "workbench/templates.h"

namespace stave::cli {
namespace {

struct NewOptions {
  std::string name;
  std::string output;
  bool yes = false;
};

int write_template(const NewOptions& options) {
  if (options.name.empty()) {
    for (const Template& t : templates()) print(fmt::format("{:<20} {}\n", t.name, t.summary));
    return exit_ok;
  }
  for (const Template& t : templates()) {
    if (t.name != options.name) continue;
    std::string path = options.output;
    if (path.empty()) {
      path = std::string(t.name) + ".stave";
      for (char& c : path)
        if (c == '-') c = '_';
    }
    if (path != "-" && !options.yes && ::access(path.c_str(), F_OK) == 0)
      return fail({{Severity::Error, "STV0002", "it exists already; --yes replaces it", {.file = path}, {}}}, {},
                  exit_input);
    if (const Result<void> written = write_file(path, t.text); !written)
      return fail(written.problems(), {}, exit_machine);
    if (path != "-") print(fmt::format("wrote {0}; try: stave sim {0}\n", printable(path)));
    return exit_ok;
  }
  std::vector<std::string_view> names;
  for (const Template& t : templates()) names.push_back(t.name);
  return usage_error(
      fmt::format("no template '{}'; `stave new` lists them{}", options.name, did_you_mean(options.name, names)));
}

}  // namespace

Run define_new(CLI::App& app) {
  auto options = std::make_shared<NewOptions>();
  app.add_option("TEMPLATE", options->name, "Which one; without it, the list");
  app.add_option("-o,--output", options->output, "Where to write; - is standard output. Default: TEMPLATE.stave")
      ->type_name("FILE");
  app.add_flag("-y,--yes", options->yes, "Replace a file that is there");
  return [options] { return write_template(*options); };
}

}  // namespace stave::cli
