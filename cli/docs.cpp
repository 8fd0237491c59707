#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "core/text/reference.h"

namespace stave::cli {

Run define_docs(CLI::App& app) {
  auto path = std::make_shared<std::string>("-");
  app.add_option("-o,--output", *path, "Where to write; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  return [path] {
    const Result<void> written = write_file(*path, ir_reference());
    return written ? exit_ok : fail(written.problems(), {}, exit_machine);
  };
}

}  // namespace stave::cli
