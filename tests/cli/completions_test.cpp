#include <gtest/gtest.h>

#include "cli/verbs.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

class Completions : public ::testing::Test {
 protected:
  std::string script(const std::string& shell) const {
    const Ran ran = stave_({"completions", shell});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return ran.out;
  }
  std::string output_of(const std::string& command) const {
    const std::string in_folder = "cd " + quoted_for_shell(stave_.folder().path()) + " && " + command + " 2>&1";
    std::string said;
    FILE* pipe = ::popen(in_folder.c_str(), "r");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
    ::pclose(pipe);
    return said;
  }
  // What bash offers for the last word, sorted and joined.
  std::string offered(const std::string& words) const {
    write_text(stave_ / "stave.bash", script("bash"));
    write_text(stave_ / "offer.bash", "source ./stave.bash\nCOMP_WORDS=(" STAVE_BINARY " " + words +
                                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_stave " STAVE_BINARY
                                          "\nprintf '%s\\n' \"${COMPREPLY[@]}\" | sort | paste -sd ' '\n");
    return output_of("bash --norc offer.bash");
  }

  Program stave_;
};

TEST_F(Completions, BashCompletesVerbsOptionsAndValues) {
  EXPECT_EQ(offered("re"), "report\n");
  EXPECT_EQ(offered("sim a.stave --mo"), "--mode\n");
  EXPECT_EQ(offered("sim a.stave --mode cap"), "captured captured_serial\n");
  EXPECT_EQ(offered("sim a.stave --mode = eag"), "eager\n");  // as bash splits --mode=eag
  EXPECT_EQ(offered("sim a.stave --machine h200"), "h200-x2 h200-x8\n");
  EXPECT_EQ(offered("machines h100"), "h100-x8\n");
  EXPECT_EQ(offered("new ring"), "ring-matmul\n");
  EXPECT_EQ(offered("help fm"), "fmt\n");
  EXPECT_EQ(offered("check exam"), "examples\n");
  EXPECT_EQ(offered("sim a.stave -o off"), "offer.bash\n");
  EXPECT_EQ(offered("run a.stave --param off"), "\n");
}

TEST_F(Completions, EachShellGetsEachVerbAndItsOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string text = script(shell);
    for (const cli::Verb& verb : cli::verbs())
      EXPECT_NE(text.find(verb.name), std::string::npos) << shell << " lacks " << verb.name;
    EXPECT_NE(text.find("network-model"), std::string::npos) << shell;
  }
}

TEST_F(Completions, ShellsTakeTheirScript) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) != 0) continue;
    write_text(stave_ / "script", script(shell));
    EXPECT_EQ(output_of(shell + " -n script"), "") << shell;
  }
}

}  // namespace
}  // namespace stave
