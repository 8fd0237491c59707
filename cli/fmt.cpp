#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "core/ir/expanded.h"
#include "core/text/mlir.h"
#include "core/text/print.h"

namespace stave::cli {
namespace {

struct FmtOptions {
  std::vector<std::string> files;
  std::string form = "stave";
  std::uint32_t rank = 0;
  bool write = false;
  bool check = false;
  std::vector<std::string> params;
};

int mlir(const Schedule& schedule, const FmtOptions& options) {
  Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), {}, exit_input);
  const Result<Expansion> expansion = expand_and_verify(schedule.module, {.params = *params});
  if (!expansion) return fail(expansion.problems(), {}, exit_input, schedule);
  if (options.rank >= expansion->class_of_rank.size())
    return usage_error(
        fmt::format("--rank {}: the schedule has {} ranks", options.rank, expansion->class_of_rank.size()));
  print(print_mlir(expansion->classes[expansion->class_of_rank[options.rank]], options.rank));
  return exit_ok;
}

int fmt_one(const std::string& file, const FmtOptions& options) {
  const Result<Schedule> schedule = open_checked(file, {});
  if (!schedule) return exit_input;
  if (options.form == "mlir") return mlir(*schedule, options);
  const std::string formatted = stave::print(*schedule->module);
  if (options.check) {
    if (formatted != schedule->text) note(file + ": is not formatted\n");
    return formatted == schedule->text ? exit_ok : exit_finding;
  }
  if (!options.write) {
    print(formatted);
    return exit_ok;
  }
  if (formatted == schedule->text) return exit_ok;
  const Result<void> written = write_file(file, formatted);
  return written ? exit_ok : fail(written.problems(), {}, exit_machine);
}

}  // namespace

Run define_fmt(CLI::App& app) {
  auto options = std::make_shared<FmtOptions>();
  app.add_option("FILE", options->files, "Schedules; - is standard input")->required();
  app.add_option("--form", options->form, "stave, or mlir: one rank's expanded commands in MLIR's generic form")
      ->check(CLI::IsMember({"stave", "mlir"}))
      ->capture_default_str();
  app.add_option("--rank", options->rank, "With --form=mlir: whose commands")->capture_default_str();
  app.add_flag("-w,--write", options->write, "Rewrite the files");
  app.add_flag("--check", options->check, "Only say which files are not formatted; exit 1 if any");
  add_params(app, options->params);
  return [options] {
    int worst = exit_ok;
    for (const std::string& file : options->files) worst = std::max(worst, fmt_one(file, *options));
    return worst;
  };
}

}  // namespace stave::cli
