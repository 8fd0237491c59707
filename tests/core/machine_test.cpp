#include "core/machine/machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/machine/table_csv.h"
#include "tests/core/shipped_machine.h"

namespace stave {
namespace {

const std::string folder = std::string(STAVE_SOURCE_DIR) + "/machines/";

std::string shipped_text() { return *read_file(folder + "h200-x2.toml"); }

Result<std::string> shipped_table(const std::string& csv) { return read_file(folder + csv); }

Result<Machine> parsed(const std::string& text) { return parse_machine("m.toml", text, shipped_table); }

// The shipped text with the first `from` made `to`.
std::string edited(std::string_view from, std::string_view to) {
  std::string text = shipped_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

// The one problem of `text`, as "line:column CODE message".
std::string problem_of(const std::string& text) {
  const auto machine = parsed(text);
  if (machine) return "no problem";
  const Problem& p = machine.problems().front();
  EXPECT_EQ(p.place.file, "m.toml");
  return fmt::format("{}:{} {} {}", p.place.line, p.place.column, p.code, p.message);
}

std::size_t line_of(std::string_view text) {
  const std::string all = shipped_text();
  return static_cast<std::size_t>(std::count(all.begin(), all.begin() + static_cast<long>(all.find(text)), '\n')) + 1;
}

TEST(Machine, EveryShippedFileLoads) {
  const auto machines = list_machines();
  std::vector<std::string> names;
  for (const auto& listing : machines) names.push_back(listing.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a100-x8", "h100-x8", "h200-x2", "h200-x8"}));
  for (const auto& listing : machines) {
    const auto machine = load_machine(listing.path);
    ASSERT_TRUE(machine) << to_text(machine.problems().front());
    EXPECT_EQ(machine->name, listing.name);
    EXPECT_EQ(machine->measured, listing.name == "h200-x2");
    EXPECT_EQ(measured_remark(*machine), machine->measured ? "" : "not measured: error unknown");
    for (std::string_view op :
         {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "broadcast"})
      EXPECT_TRUE(machine->collective(op)) << op;
    EXPECT_TRUE(machine->kernel("gemm"));
    EXPECT_TRUE(machine->use("all_reduce", "memory"));
    EXPECT_TRUE(machine->beside("collective", "gemm"));
    EXPECT_TRUE(machine->device_link());
  }
}

TEST(Machine, EnergyMayBeLeftOutButNotInPart) {
  ASSERT_TRUE(h200_x2().energy);
  EXPECT_EQ(h200_x2().energy->gemm_pj_per_flop.value, 0.9);
  std::string text = shipped_text();
  const std::size_t begin = text.find("[energy]"), end = text.find("[[link]]");
  text.erase(begin, end - begin);
  const Result<Machine> without = parsed(text);
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->energy);
  EXPECT_EQ(problem_of(edited("idle_w = ", "standby_w = ")),
            fmt::format("{}:1 STV0601 [energy] idle_w is missing", line_of("[energy]")));
}

TEST(Machine, NumbersAreThoseOfTheFile) {
  const Machine& m = h200_x2();
  EXPECT_EQ(m.devices(), 2);
  EXPECT_EQ(m.device.sm_count.value, 132);
  EXPECT_EQ(m.device.memory_bandwidth_bytes_per_s.value, 4.235e12);
  EXPECT_EQ(m.device.memory_bandwidth_bytes_per_s.spread, 0.34e12);
  EXPECT_EQ(picoseconds_of(m.host.launch_ps), 3655000_ps);
  EXPECT_EQ(picoseconds_of(m.host.event_record_ps), 159_ns);
  EXPECT_EQ(picoseconds_of(m.graph.while_iteration_ps), 4380_ns);
  EXPECT_EQ(m.link("peer")->bandwidth_bytes_per_s.value, 396.8e9);
  EXPECT_EQ(m.device_link()->scope, "peer");
  EXPECT_EQ(m.collective("all_reduce")->channels.value, 24);
  EXPECT_EQ(m.collective("all_gather", "copy_engine")->channels.value, 0);
  EXPECT_EQ(m.collective("all_reduce", "copy_engine"), nullptr);
  EXPECT_EQ(m.tensor_rate("bf16")->per_second, 989.4e12);
  EXPECT_EQ(m.tensor_rate("f8e4m3")->per_second, 1978.9e12);
  EXPECT_FALSE(m.tensor_rate("f32"));
  EXPECT_FALSE(shipped("a100-x8").tensor_rate("f8e4m3"));
  EXPECT_NE(m.device.sm_count.source.find("measured: probe 1"), std::string::npos);
  EXPECT_EQ(m.sha256, sha256(shipped_text()));
  EXPECT_EQ(m.text, shipped_text());
  EXPECT_EQ(m.tables.size(), 7u);
  EXPECT_EQ(m.tables[0].gemm.size(), 15u);
  EXPECT_EQ(m.tables[3].gemm.size(), 2871u);
}

TEST(Machine, SummaryNamesUnitsAndSources) {
  const std::string text = summary(shipped("h100-x8"));
  EXPECT_NE(text.find("not measured: error unknown"), std::string::npos);
  EXPECT_NE(text.find("memory_peak                  3350 GB/s                data sheet: NVIDIA H100 SXM"),
            std::string::npos)
      << text;
  EXPECT_EQ(summary(h200_x2()).find("not measured"), std::string::npos);
}

TEST(Machine, IsFoundByNameAndByPath) {
  const auto by_name = find_machine("h200-x2");
  const auto by_path = find_machine(folder + "h200-x2.toml");
  ASSERT_TRUE(by_name && by_path);
  EXPECT_EQ(by_name->sha256, by_path->sha256);

  const auto unknown = find_machine("h2oo");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.problems()[0].code, "STV0608");
  EXPECT_EQ(unknown.problems()[0].message,
            "no machine is called 'h2oo'; known are: a100-x8, h100-x8, h200-x2, h200-x8");
  for (const char* odd : {"", "..", ".", "a b", "no/such.toml"}) EXPECT_FALSE(find_machine(odd)) << odd;
}

TEST(Machine, FoldersOfTheEnvironmentComeFirst) {
  const std::string own = testing::TempDir() + "/stave_machines";
  std::filesystem::create_directories(own);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".csv")
      std::filesystem::copy_file(entry.path(), own + "/" + entry.path().filename().string(),
                                 std::filesystem::copy_options::overwrite_existing);
  std::ofstream(own + "/h200-x2.toml") << edited("2 NVIDIA H200 SXM", "our own");
  std::ofstream(own + "/mine.toml") << edited("\"h200-x2\"", "\"mine\"");
  setenv("STAVE_MACHINES", (":/no/such/folder:" + own).c_str(), 1);
  const auto overridden = find_machine("h200-x2");
  const auto mine = find_machine("mine");
  const auto listed = list_machines();
  unsetenv("STAVE_MACHINES");
  std::filesystem::remove_all(own);
  ASSERT_TRUE(overridden && mine);
  EXPECT_TRUE(overridden->description.starts_with("our own"));
  EXPECT_EQ(listed.size(), 5u);
  EXPECT_EQ(listed[2].path, own + "/h200-x2.toml");
}

TEST(MachineFile, AMissingFieldIsNamed) {
  const std::string text = shipped_text();
  const std::size_t begin = text.find("sm_count");
  std::string without = text;
  without.erase(begin, text.find('\n', begin) + 1 - begin);
  EXPECT_EQ(problem_of(without), fmt::format("{}:1 STV0601 [device] sm_count is missing", line_of("[device]")));
  EXPECT_EQ(problem_of(edited("[host]\n", "[hosts]\n")), "0:0 STV0601 [host] is missing");
  EXPECT_EQ(problem_of(edited("name = \"h200-x2\"\n", "")), "2:1 STV0601 [machine] name is missing");
  EXPECT_EQ(problem_of(edited("measured = true\n", "")), "2:1 STV0601 [machine] measured is missing");
  EXPECT_EQ(problem_of(edited("{ value = 132, ", "{ ")),
            fmt::format("{}:12 STV0601 [device] sm_count value is missing", line_of("sm_count")));
  EXPECT_EQ(problem_of(edited("op = \"broadcast\"", "op = \"all_to_all\"")).substr(0, 4),
            fmt::format("{}:", line_of("op = \"broadcast\"") - 1));
  EXPECT_EQ(problem_of(edited("family = \"copy\"", "family = \"cpoy\"")),
            "0:0 STV0601 [[kernel]] with family = \"copy\" is missing");
  EXPECT_EQ(problem_of(edited("nodes = 1\n", "nodes = 2\n")),
            "0:0 STV0601 [[link]] with scope = \"nic\" is missing: nodes is 2");
}

TEST(MachineFile, AnUnknownKeyHasItsPlace) {
  EXPECT_EQ(problem_of(edited("sm_count = {", "sm_cuont = { value = 1, source = \"x\" }\nsm_count = {")),
            fmt::format("{}:1 STV0602 [device] has no key \"sm_cuont\"", line_of("sm_count")));
  EXPECT_EQ(problem_of(edited("{ value = 132, ", "{ valeu = 3, value = 132, ")),
            fmt::format("{}:14 STV0602 [device] sm_count has no key \"valeu\"", line_of("sm_count")));
  const std::string text = shipped_text();
  EXPECT_EQ(problem_of(text + "\n[extra]\n"), fmt::format("{}:2 STV0602 a machine file has no key \"extra\"",
                                                          std::count(text.begin(), text.end(), '\n') + 2));
}

TEST(MachineFile, TypesAndRangesAreChecked) {
  const auto sm_count = [](std::string_view value) {
    const std::string problem = problem_of(edited("value = 132", fmt::format("value = {}", value)));
    return problem.substr(problem.find("STV"));
  };
  EXPECT_EQ(sm_count("\"132\""), "STV0603 [device] sm_count value must be a number, got a text");
  EXPECT_EQ(sm_count("true"), "STV0603 [device] sm_count value must be a number, got a boolean");
  EXPECT_EQ(sm_count("-132"), "STV0604 [device] sm_count must be a whole number, one or more, got -132");
  EXPECT_EQ(sm_count("0"), "STV0604 [device] sm_count must be a whole number, one or more, got 0");
  EXPECT_EQ(sm_count("1.5"), "STV0604 [device] sm_count must be a whole number, one or more, got 1.5");
  EXPECT_EQ(sm_count("nan"), "STV0604 [device] sm_count must be a whole number, one or more, got nan");
  EXPECT_EQ(sm_count("inf"), "STV0604 [device] sm_count must be a whole number, one or more, got inf");
  EXPECT_EQ(sm_count("132, spread = -1"),
            "STV0604 [device] sm_count spread must be a finite number, zero or more, got -1");

  const auto bandwidth = [](std::string_view value) {
    const std::string problem = problem_of(edited("value = 396.8e9", fmt::format("value = {}", value)));
    return problem.substr(problem.find("STV"));
  };
  EXPECT_EQ(bandwidth("0"), "STV0604 [[link]] bandwidth_bytes_per_s must be a finite number above zero, got 0");
  EXPECT_EQ(bandwidth("-3e9"),
            "STV0604 [[link]] bandwidth_bytes_per_s must be a finite number above zero, got -3000000000");
  EXPECT_EQ(bandwidth("1e300"),
            "STV0604 [[link]] bandwidth_bytes_per_s must be a finite number above zero, got 1e+300");

  EXPECT_EQ(
      problem_of(edited("sm_count = {", "sm_count = 132\nignored = {")).substr(0, 60),
      fmt::format("{}:12 STV0603 [device] sm_count must be {{ value = …, source =", line_of("sm_count")).substr(0, 60));
  EXPECT_EQ(problem_of(edited("nodes = 1\n", "nodes = 0\n")),
            "5:9 STV0604 [machine] nodes must be from 1 to 16384, got 0");
  EXPECT_EQ(problem_of(edited("nodes = 1\n", "nodes = 1.0\n")),
            "5:9 STV0603 [machine] nodes must be a whole number, got a number");
  EXPECT_EQ(problem_of(edited("measured = true", "measured = 1")),
            "7:12 STV0603 [machine] measured must be true or false, got a number");
  const std::string text = shipped_text();
  EXPECT_EQ(problem_of("beside = 3\n" + text.substr(0, text.find("[[beside]]"))),
            "1:10 STV0603 beside must be written [[beside]], got a number");
}

TEST(MachineFile, EveryNumberNeedsASource) {
  const std::size_t line = line_of("sm_count");
  const std::string place = fmt::format("{}:", line);
  std::string text = shipped_text();
  const std::size_t at = text.find("source = ", text.find("sm_count"));
  text.replace(at, text.find('"', at + 10) + 1 - at, "spread = 1");
  EXPECT_EQ(problem_of(text), place + "12 STV0605 [device] sm_count must name its source in words");
  EXPECT_NE(
      problem_of(
          edited(
              "source = \"measured elsewhere: NVIDIA aiconfigurator (Apache-2.0), TensorRT-LLM 1.3.0rc20 on H200\"\n",
              ""))
          .find("STV0605 [[table]] must name its source in words"),
      std::string::npos);
}

TEST(MachineFile, NamesAreChecked) {
  EXPECT_NE(problem_of(edited("scope = \"peer\"", "scope = \"pear\""))
                .find("STV0612 [[link]] scope must be one of peer, switch, pcie, nic, got \"pear\""),
            std::string::npos);
  EXPECT_NE(problem_of(edited("op = \"all_gather\"", "op = \"all_reduce\""))
                .find("STV0610 [[collective]] all_reduce ring is given twice"),
            std::string::npos);
}

TEST(MachineFile, TablesAreCheckedByTheirHash) {
  const auto changed = parse_machine("m.toml", shipped_text(), [](const std::string& csv) -> Result<std::string> {
    TRY(std::string text, shipped_table(csv));
    if (csv == "h200_collectives.csv") text[text.size() - 2] ^= 1;
    return text;
  });
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.problems()[0].code, "STV0606");
  EXPECT_NE(changed.problems()[0].message.find("h200_collectives.csv has sha256 "), std::string::npos);

  const auto gone = parse_machine("m.toml", shipped_text(), [](const std::string& csv) -> Result<std::string> {
    return error_at({.file = csv}, "STV0001", "cannot read");
  });
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.problems()[0].code, "STV0001");
  EXPECT_EQ(gone.problems()[0].notes[0].place.line, line_of("csv = "));

  for (const char* outside : {"../x.csv", "/etc/passwd", "a/b.csv", ".hidden"})
    EXPECT_NE(problem_of(edited("h200-x2_gemm_single.csv", outside)).find("STV0611"), std::string::npos) << outside;
}

TEST(MachineFile, WhatIsNotAMachineFileIsRefused) {
  EXPECT_NE(problem_of(shipped_text().substr(0, 700)).find("STV0600 not TOML"), std::string::npos);
  EXPECT_EQ(problem_of(""), "0:0 STV0601 [machine] is missing");
  EXPECT_EQ(problem_of(std::string("[machine]\nname = \0", 18)),
            "2:8 STV0609 a machine file is text; this one holds a zero byte");
  EXPECT_EQ(problem_of("\x89PNG\r\n\x1a\n"), "1:1 STV0609 a machine file is ASCII outside strings and comments");
  EXPECT_EQ(problem_of("# \u00b5s\nx = \"\u00b5\\\"\" \u00b5"),
            "2:12 STV0609 a machine file is ASCII outside strings and comments");
  EXPECT_EQ(problem_of("x = \"\"\"\n\"\"\""), "1:5 STV0609 a machine file has no strings of many lines");
  EXPECT_TRUE(parsed("\xef\xbb\xbf" + edited("2 NVIDIA H200 SXM", "two \u00b5-GPUs # not a comment")));
  EXPECT_EQ(problem_of(std::string((1 << 20) + 1, '\n')),
            "0:0 STV0609 a machine file has at most 1048576 bytes, got 1048577");
  EXPECT_NE(problem_of("x = " + std::string(1000, '[') + std::string(1000, ']')).find("STV0600"), std::string::npos);
  EXPECT_NE(problem_of("[#]\n").find("STV0600"), std::string::npos);
  std::string lines = "x = ";
  for (int i = 0; i < 100'000; ++i) lines += "[\n";
  EXPECT_NE(problem_of(lines).find("STV0600"), std::string::npos);
  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  EXPECT_EQ(problem_of(dotted + " = 1"), "1:2049 STV0609 a line of a machine file has at most 2048 bytes");
  EXPECT_NE(problem_of(dotted.substr(0, 2001) + " = 1").find("STV06"), std::string::npos);
}

TEST(MachineFile, AllProblemsAreToldAtOnce) {
  std::string text = edited("value = 132", "value = -1");
  const std::string from = "value = 1455000";
  text.replace(text.find(from), from.size(), "value = true");
  const auto machine = parsed(text);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.problems().size(), 2u);
}

// Behind the last [[kernel]] a cut file may be whole: what follows is optional.
RC_GTEST_PROP(MachineFile, ACutFileIsAnError, ()) {
  const std::string text = shipped_text();
  const auto size = *rc::gen::inRange<std::size_t>(0, text.find("[[use]]") - 100);
  RC_ASSERT(!parsed(text.substr(0, size)));
}

TEST(MachineTable, RowsAreChecked) {
  const auto code = [](const auto& rows) { return rows ? std::string("fine") : rows.problems()[0].code; };
  const auto place = [](const auto& rows) {
    return fmt::format("{}:{}", rows.problems()[0].place.line, rows.problems()[0].place.column);
  };
  const std::string head = "m,n,k,sm_count,ctas,time_ps\n";
  EXPECT_EQ(code(parse_gemm_csv("t.csv", head + "1,2,3,0,0,4\n")), "fine");
  EXPECT_EQ(code(parse_gemm_csv("t.csv", head + "1,2,3,0,0,4\r\n")), "fine");
  EXPECT_EQ(code(parse_gemm_csv("t.csv", "")), "STV0607");
  EXPECT_EQ(code(parse_gemm_csv("t.csv", head)), "STV0607");
  EXPECT_EQ(code(parse_gemm_csv("t.csv", "m,n,k\n1,2,3\n")), "STV0607");
  const auto word = parse_gemm_csv("t.csv", head + "1,2,3,0,0,4\n1,two,3,0,0,4\n");
  EXPECT_EQ(code(word), "STV0607");
  EXPECT_EQ(place(word), "3:3");
  for (const char* row : {"0,2,3,0,0,4\n", "-1,2,3,0,0,4\n", "1.5,2,3,0,0,4\n", "1,2,3,0,0,0\n", "1,2,3,0,0\n",
                          "1,2,3,0,0,4,5\n", "1,2,3,0,0,99999999999999999999\n", "1,2,3,0,0,4", "\n"})
    EXPECT_EQ(code(parse_gemm_csv("t.csv", head + row)), "STV0607") << row;
  const auto twice = parse_gemm_csv("t.csv", head + "1,2,3,0,0,4\n9,2,3,0,0,4\n1,2,3,0,0,5\n");
  EXPECT_EQ(code(twice), "STV0610");
  EXPECT_EQ(place(twice), "4:1");

  EXPECT_EQ(code(parse_collective_csv("t.csv", "op,ranks,bytes,time_ps\nall_reduce,2,8,5\n")), "fine");
  EXPECT_EQ(code(parse_collective_csv("t.csv", "op,ranks,bytes,time_ps\nall_rduce,2,8,5\n")), "STV0612");
  EXPECT_EQ(code(parse_collective_csv("t.csv", "op,ranks,bytes,time_ps\nall_reduce,0,8,5\n")), "STV0607");
}

}  // namespace
}  // namespace stave
