// All text tests: the modes that a RUN line may name.
#include "tests/file_test.h"
#include "tests/modes/modes.h"

int main(int argc, char** argv) {
  using namespace stave;
  return run_file_tests(argc, argv, STAVE_SOURCE_DIR "/tests",
                        {{"print", run_print},
                         {"verify", run_verify},
                         {"expand", run_expand},
                         {"lower", run_lower},
                         {"run", run_run},
                         {"check", run_check},
                         {"simulate", run_simulate}});
}
