// Files that are not what they should be: a clear error, exit code 2, nothing
// written, and no more than a minute (the limit of Program).
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

class BadInput : public ::testing::Test {
 protected:
  // The error's first line, which is checked to be one.
  std::string error_of(const std::vector<std::string>& arguments) {
    const Ran ran = stave_(arguments);
    EXPECT_EQ(ran.exit, 2) << ran.err.substr(0, 500);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("error: "), std::string::npos) << ran.err.substr(0, 500);
    EXPECT_LT(ran.err.size(), 20'000u);
    EXPECT_FALSE(fs::exists(stave_ / "out.sqlite"));
    EXPECT_FALSE(fs::exists(stave_ / "out.sqlite.partial"));
    return ran.err.substr(0, ran.err.find('\n'));
  }
  std::string schedule_error(const std::string& text) {
    write_text(stave_ / "bad.stave", text);
    const std::string said = error_of({"sim", "bad.stave", "-o", "out.sqlite"});
    EXPECT_TRUE(said.starts_with("bad.stave:")) << said.substr(0, 200);
    return said;
  }
  std::string input_error(const std::string& npy) {
    write_text(stave_ / "good.stave", "stave 1\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n  copy %a -> %b\n}\n");
    write_text(stave_ / "a.npy", npy);
    const std::string said = error_of({"run", "good.stave", "--input", "a=a.npy", "--save", "b=out.npy"});
    EXPECT_TRUE(said.starts_with("a.npy")) << said;
    return said;
  }
  // Copies the machine's files here and edits its text.
  std::string machine_error(const std::string& old, const std::string& by) {
    for (const auto& entry : fs::directory_iterator(STAVE_SOURCE_DIR "/machines"))
      fs::copy(entry.path(), stave_ / entry.path().filename().string(), fs::copy_options::overwrite_existing);
    std::string text = file_text(stave_ / "h200-x2.toml");
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), by);
    write_text(stave_ / "h200-x2.toml", text);
    const std::string said =
        error_of({"sim", "examples/ring_matmul_2.stave", "--machine", "./h200-x2.toml", "-o", "out.sqlite"});
    EXPECT_TRUE(said.starts_with("./h200-x2.toml")) << said;
    return said;
  }
  static std::string repeated(const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  }

  Program stave_;
};

TEST_F(BadInput, AnEmptySchedule) { schedule_error(""); }

TEST_F(BadInput, AScheduleCutAtEveryTenthByte) {
  const std::string whole = file_text(STAVE_SOURCE_DIR "/examples/ring_matmul_2.stave");
  for (std::size_t at = 1; at + 4 < whole.size(); at += whole.size() / 10) schedule_error(whole.substr(0, at));
}

TEST_F(BadInput, ABinary) {
  std::string bytes;
  for (int i = 0; i < 65536; ++i) bytes += static_cast<char>(i * 7919 >> 3);
  schedule_error(bytes);
  schedule_error("stave 1\n" + bytes);
  schedule_error(std::string("stave 1\0", 8));
}

TEST_F(BadInput, OneLineOf100Megabytes) {
  const std::string said = schedule_error("stave 1\n" + std::string(100'000'000, 'a'));
  EXPECT_LT(said.size(), 1000u);
}

TEST_F(BadInput, AStringOf100MegabytesThatIsNotClosed) {
  schedule_error("stave 1\nsource @p = ptx \"" + std::string(100'000'000, 'a'));
}

TEST_F(BadInput, NestingOf300000) {
  EXPECT_NE(schedule_error("stave 1\nparam n = " + std::string(300'000, '(')).find("STV0107"), std::string::npos);
  EXPECT_NE(schedule_error("stave 1\nparam n = " + std::string(300'000, '-') + "1\n").find("STV0"), std::string::npos);
  schedule_error("stave 1\nparam n = " + std::string(300'000, '['));
  EXPECT_NE(schedule_error("stave 1\nfunc @f(%a: in f32[4]) {\n" + repeated("when (test = 1 < 2) {\n", 300'000))
                .find("STV0107"),
            std::string::npos);
}

TEST_F(BadInput, AMachineWithoutAKeyNamesKeyAndFile) {
  EXPECT_NE(machine_error("\nsm_count =", "\n# sm_count =").find("sm_count"), std::string::npos);
  EXPECT_NE(machine_error("\n[host]", "\n[guest]").find("[host] is missing"), std::string::npos);
}

TEST_F(BadInput, AMachineWithAWrongValueNamesKeyAndPlace) {
  const std::string said = machine_error("\nsm_count = { value = 132", "\nsm_count = { value = -132");
  EXPECT_NE(said.find("sm_count"), std::string::npos) << said;
  EXPECT_NE(said.find("-132"), std::string::npos) << said;
}

TEST_F(BadInput, AMachineThatIsNoToml) {
  write_text(stave_ / "binary.toml", std::string("\x7f\x45\x4c\x46\0\0\0\1", 8));
  error_of({"sim", "examples/ring_matmul_2.stave", "--machine", "./binary.toml", "-o", "out.sqlite"});
  write_text(stave_ / "nested.toml", "a = " + std::string(300'000, '['));
  error_of({"sim", "examples/ring_matmul_2.stave", "--machine", "./nested.toml", "-o", "out.sqlite"});
  write_text(stave_ / "long.toml", "a = \"" + std::string(100'000'000, 'a'));
  error_of({"machines", "./long.toml"});
}

TEST_F(BadInput, ATableThatIsNotTheOneOfTheMachine) {
  for (const auto& entry : fs::directory_iterator(STAVE_SOURCE_DIR "/machines"))
    fs::copy(entry.path(), stave_ / entry.path().filename().string());
  const std::string table = stave_ / "h200-x2_collectives.csv";
  write_text(table, file_text(table) + "\n");
  const std::string said = error_of({"machines", "./h200-x2.toml"});
  EXPECT_NE(said.find("STV0606"), std::string::npos) << said;
  EXPECT_NE(said.find("h200-x2_collectives.csv"), std::string::npos) << said;
}

TEST_F(BadInput, AnArrayThatIsGarbageOrCutOrOfAnotherKind) {
  EXPECT_NE(input_error("").find("STV0670"), std::string::npos);
  EXPECT_NE(input_error("garbage in, nothing out").find("STV0670"), std::string::npos);
  EXPECT_NE(input_error(std::string("\x93NUMPY\1\0\xff\xff", 10)).find("STV0672"), std::string::npos);
  const auto array = [](const std::string& header, std::size_t bytes) {
    std::string text = header;
    text.resize(117, ' ');
    return std::string("\x93NUMPY\1\0\x76\0", 10) + text + "\n" + std::string(bytes, '\0');
  };
  const std::string shape = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  EXPECT_NE(input_error(array(shape + "(4,), }", 12)).find("STV0675"), std::string::npos);
  EXPECT_NE(input_error(array(shape + "(5,), }", 20)).find("STV0682"), std::string::npos);
  EXPECT_NE(input_error(array(shape + "(9223372036854775807, 4), }", 16)).find("STV067"), std::string::npos);
  EXPECT_NE(input_error(array("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", 32)).find("STV0681"),
            std::string::npos);
  EXPECT_EQ(stave_({"run", "good.stave", "--input", "a=a.npy"}).exit, 2);
  write_text(stave_ / "a.npy", array(shape + "(4,), }", 16));
  EXPECT_EQ(stave_({"run", "good.stave", "--input", "a=a.npy"}).exit, 0);
}

TEST_F(BadInput, ARunFileThatIsNone) {
  EXPECT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  const std::string whole = file_text(stave_ / "ring.sqlite");
  const auto report = [&](const std::string& bytes) {
    write_text(stave_ / "bad.sqlite", bytes);
    const std::string said = error_of({"report", "bad.sqlite"});
    EXPECT_TRUE(said.starts_with("bad.sqlite")) << said;
    return said;
  };
  EXPECT_NE(report("").find("STV07"), std::string::npos);
  EXPECT_NE(report(std::string(5000, 'x')).find("STV0703"), std::string::npos);
  EXPECT_NE(report(whole.substr(0, 50)).find("STV0706"), std::string::npos);
  EXPECT_NE(report(whole.substr(0, whole.size() / 2)).find("STV0706"), std::string::npos);
  error_of({"report", "examples"});

  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open((stave_ / "other.sqlite").c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "CREATE TABLE t(x)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_NE(error_of({"report", "other.sqlite"}).find("STV0704"), std::string::npos);
}

}  // namespace
}  // namespace stave
