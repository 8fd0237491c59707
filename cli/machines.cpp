#include <fmt/format.h>

#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/machine/machine.h"

namespace stave::cli {
namespace {

int list_all() {
  for (const MachineListing& listing : list_machines()) {
    const Result<Machine> machine = load_machine(listing.path);
    if (!machine) {
      print(fmt::format("{:<12} cannot be used: {}\n", listing.name, machine.problems()[0].message));
      continue;
    }
    const std::string_view remark = measured_remark(*machine);
    print(fmt::format("{:<12} {}{}\n", listing.name, machine->description,
                      remark.empty() ? "" : fmt::format(" ({})", remark)));
  }
  return exit_ok;
}

}  // namespace

Run define_machines(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("MACHINE", *name, "A name from the list, or a machine file");
  return [name] {
    if (name->empty()) return list_all();
    const Result<Machine> machine = find_machine(*name);
    if (!machine) return fail(machine.problems(), {}, exit_input);
    print(summary(*machine));
    return exit_ok;
  };
}

}  // namespace stave::cli
