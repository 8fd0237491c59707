// What the verbs print is what docs/json/ says: every required key is there,
// every key that is there is described, and a validator agrees where one is installed.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

class Walk {
 public:
  Walk(const Json& schema, const Json& document) : schema_(schema), document_(document) {}
  std::string differences() && {
    object_or_array("$", "$");
    return std::move(out_);
  }

 private:
  void object_or_array(const std::string& schema_at, const std::string& at) {
    const std::string type = document_.one("SELECT json_type(?1, ?2)", {at});
    if (type == "array") {
      if (schema_.one("SELECT json_type(?1, ?2)", {schema_at + ".items"}) != "object") return;
      const int length = std::stoi(document_.one("SELECT json_array_length(?1, ?2)", {at}));
      for (int i = 0; i < std::min(length, 8); ++i)
        object_or_array(schema_at + ".items", at + "[" + std::to_string(i) + "]");
    }
    if (type != "object") return;
    for (const Json::Row& key : schema_.rows("SELECT value FROM json_each(?1, ?2)", {schema_at + ".required"}))
      if (document_.one("SELECT json_type(?1, ?2)", {at + "." + key[0]}) == "NULL")
        out_ += at + "." + key[0] + " is missing\n";
    if (schema_.one("SELECT json_type(?1, ?2)", {schema_at + ".properties"}) != "object") return;
    for (const Json::Row& key : document_.rows("SELECT key FROM json_each(?1, ?2)", {at})) {
      const std::string next = schema_at + ".properties." + key[0];
      if (schema_.one("SELECT json_type(?1, ?2)", {next}) == "object")
        object_or_array(next, at + "." + key[0]);
      else
        out_ += at + "." + key[0] + " is not described\n";
    }
  }

  const Json& schema_;
  const Json& document_;
  std::string out_;
};

struct Document {
  const char* name;
  const char* schema;
  std::vector<std::string> arguments;
};

std::ostream& operator<<(std::ostream& out, const Document& document) { return out << document.name; }

std::vector<Document> documents() {
  const std::string ring = "examples/ring_matmul_2.stave";
  return {
      {"sim", "sim", {"sim", ring, "--param", "m=2048", "--jitter", "2", "-o", "ring.sqlite"}},
      {"sim_extrapolated",
       "sim",
       {"sim", "examples/ring_matmul_8.stave", "--machine", "a100-x8", "--mode", "captured"}},
      {"sim_deadlock", "sim", {"sim", "deadlock.stave"}},
      {"report", "report", {"report", "ring.sqlite"}},
      {"report_window", "report", {"report", "ring.sqlite", "--window", "0s..1us", "--fail-above", "makespan_ps=1"}},
      {"import", "import", {"import", "examples/trace.json", "-o", "imported.sqlite"}},
      {"export", "export", {"export", "ring.sqlite", "-o", "ring.json"}},
      {"export_left_out", "export", {"export", "ring.sqlite", "-o", "ring.csv", "--rank", "1"}},
      {"scrub", "scrub", {"scrub", "ring.sqlite", "-o", "shared.sqlite"}},
      {"error_import", "error", {"import", ring, "-o", "imported.sqlite"}},
      {"compare", "compare", {"compare", "ring.sqlite", "gather.sqlite"}},
      {"compare_all", "compare", {"compare", "ring.sqlite", "ring.sqlite", "--all", "--window", "step:0"}},
      {"check", "check", {"check", ring}},
      {"check_errors", "check", {"check", "broken.stave"}},
      {"checks", "checks", {"check", ring, "broken.stave"}},
      {"run", "run", {"run", "examples/all_reduce.stave"}},
      {"run_expect", "run", {"run", "examples/init_and_copy.stave", "--input", "src=zeros", "--expect", "dst=dst.npy"}},
      {"run_hang", "run", {"run", "deadlock.stave"}},
      {"error_rule", "error", {"sim", "broken.stave"}},
      {"error_file", "error", {"report", "none.sqlite"}},
      {"error_option", "error", {"run", ring, "--frobnicate"}},
  };
}

class Documents : public ::testing::TestWithParam<Document> {
 protected:
  std::string printed() {
    EXPECT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
    EXPECT_EQ(stave_({"sim", "examples/all_gather_matmul_2.stave", "-o", "gather.sqlite"}).exit, 0);
    EXPECT_EQ(stave_({"run", "examples/init_and_copy.stave", "--input", "src=iota", "--save", "dst=dst.npy"}).exit, 0);
    write_text(stave_ / "broken.stave", "stave 1\nfunc @f(%a: in f32[4], %b: out f32[5]) {\n  copy %a -> %b\n}\n");
    write_text(stave_ / "deadlock.stave",
               "stave 1\nmesh x = 2\nfunc @first(%a: inout f32[2]) {\n  send %a (axis = x, peer = 1)\n}\n"
               "func @second(%a: inout f32[2]) {\n  map %a -> %a (f = |v| v + 1.0)\n}\n"
               "entry @first on 0\nentry @second on 1\n");
    std::vector<std::string> arguments = GetParam().arguments;
    arguments.push_back("--json");
    return stave_(arguments).out;
  }
  std::string schema_path() const {
    return std::string(STAVE_SOURCE_DIR "/docs/json/") + GetParam().schema + ".schema.json";
  }

  Program stave_;
};

TEST_P(Documents, HaveTheKeysOfTheirSchemaAndNoOthers) {
  const Json document(printed()), schema(file_text(schema_path()));
  ASSERT_TRUE(document.valid()) << document.text();
  ASSERT_TRUE(schema.valid()) << schema_path();
  EXPECT_EQ(document.at("$.schema"), schema.at("$.properties.schema.const"));
  EXPECT_EQ(Walk(schema, document).differences(), "");
}

TEST_P(Documents, AreValid) {
  if (std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3 with jsonschema (Debian: python3-jsonschema) is not installed";
  write_text(stave_ / "document.json", printed());
  const std::string command =
      "python3 -c 'import json, sys, jsonschema\n"
      "jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' " +
      quoted_for_shell(stave_ / "document.json") + " " + quoted_for_shell(schema_path()) + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << said;
}

INSTANTIATE_TEST_SUITE_P(Verbs, Documents, ::testing::ValuesIn(documents()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stave
