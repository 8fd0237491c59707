// Chakra's execution traces; the numbers of fields are those of et_def.proto.
#include "tests/profiles/import/imported.h"
#include "tests/profiles/import/wire.h"

namespace stave::chakra_bytes {
namespace {

using wire::delimited;
using wire::field;
using wire::varint;

std::string attribute(const std::string& name, const std::string& value) { return field(10, field(1, name) + value); }
std::string cpu(std::uint64_t tid) { return attribute("is_cpu_op", field(27, 1)) + attribute("tid", field(9, tid)); }
std::string device(std::uint64_t stream) {
  return attribute("is_cpu_op", field(27, 0)) + attribute("tid", field(9, stream));
}
std::string node(std::uint64_t id, const std::string& name, std::uint64_t start_us, std::uint64_t duration_us,
                 const std::string& rest, std::uint64_t type = 4) {
  return delimited(field(1, id) + field(2, name) + field(3, type) + (start_us > 0 ? field(6, start_us) : "") +
                   field(7, duration_us) + rest);
}
const std::string head = delimited(field(1, "0.0.4") + field(2, field(1, "schema") + field(29, "1.1.1-chakra.0.0.4")));

ImportedTimeline import_chakra(const std::string& bytes, const std::string& name = "run.0.et") {
  const TempFolder folder;
  write_bytes(folder / name, bytes);
  return import_files({folder / name});
}

TEST(Chakra, NodesEdgesAndCollectives) {
  const std::string seq = attribute("seq_id", field(9, ~0ull));  // 2^64 - 1, written into an int64
  const ImportedTimeline trace = import_chakra(
      head + node(1, "aten::mm", 1000, 50, cpu(3) + seq) +
      node(2, "cudaLaunchKernel", 1010, 5, cpu(3) + field(4, varint(1))) +
      node(3, "sgemm", 1030, 100, device(7) + field(5, varint(2))) +
      node(4, "ncclKernel_AllReduce", 1200, 40,
           device(20) + field(5, varint(3)) + attribute("comm_type", field(9, 0)) +
               attribute("comm_size", field(9, 4096)) + attribute("pg_name", field(29, "dp")),
           7) +
      node(5, "Memcpy DtoH (Device -> Pageable)", 1150, 4, device(7) + field(5, varint(9)) + field(4, varint(3))));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.format_version, "1.1.1-chakra.0.0.4");
  EXPECT_EQ(trace.report.kernels, 2);
  EXPECT_EQ(trace.report.copies, 1);
  EXPECT_EQ(trace.report.calls, 1);
  EXPECT_EQ(trace.slice("sgemm").start, 30_us);
  EXPECT_EQ(trace.slice("sgemm").duration, 100_us);
  EXPECT_EQ(trace.timeline.track(trace.slice("sgemm").track).stream, 7);
  EXPECT_EQ(trace.timeline.track(trace.slice("aten::mm").track).thread, 3);
  EXPECT_EQ(trace.flows(FlowKind::Launch, Certainty::Recorded), 1);
  EXPECT_EQ(trace.flows(FlowKind::Event, Certainty::Recorded), 1);  // the gemm, to another stream
  EXPECT_EQ(trace.count("STV0773"), 1);                             // on node 9
  ASSERT_EQ(trace.timeline.collectives().size(), 1u);
  const CollectiveDetail& collective = trace.timeline.collectives()[0];
  EXPECT_EQ(trace.timeline.text(collective.op), "all_reduce");
  EXPECT_EQ(trace.timeline.text(collective.communicator), "dp");
  EXPECT_EQ(collective.bytes, 4096);
  EXPECT_EQ(trace.timeline.args(SliceId{1})->json, R"({"id": 1, "is_cpu_op": true, "tid": 3, "seq_id": -1})");
}

TEST(Chakra, AGraphWithoutTimesIsNoTimeline) {
  const ImportedTimeline trace =
      import_chakra(head + node(1, "aten::mm", 0, 50, cpu(3)) + node(2, "sgemm", 0, 100, device(7)));
  ASSERT_EQ(trace.code(), "STV0772");
  EXPECT_NE(trace.error[0].message.find("none of its 2 nodes (1 on a device) has a start time"), std::string::npos);
}

TEST(Chakra, FilesAreRanksByTheirNames) {
  const TempFolder folder;
  for (const int rank : {0, 1})
    write_bytes(folder / ("job." + std::to_string(rank) + ".et"),
                head + node(1, "ncclKernel_AllReduce", 1000 + 100 * static_cast<std::uint64_t>(rank),
                            500 - 100 * static_cast<std::uint64_t>(rank), device(1), 7));
  const ImportedTimeline trace = import_files({folder.path()});
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.report.ranks, 2u);
  EXPECT_EQ(trace.timeline.ranks()[1].rank_from, "file name");
  EXPECT_EQ(trace.timeline.collectives()[0].arrival_wait, 100_us);
}

struct NodeFault {
  const char* what;
  std::string bytes;
  const char* code;
  std::size_t slices;
};
std::ostream& operator<<(std::ostream& out, const NodeFault& fault) { return out << fault.what; }
class ChakraFaults : public ::testing::TestWithParam<NodeFault> {};

TEST_P(ChakraFaults, CostAtMostOneNode) {
  const NodeFault& fault = GetParam();
  const ImportedTimeline trace =
      import_chakra(head + node(1, "before", 1000, 50, cpu(3)) + fault.bytes + node(3, "after", 1200, 7, cpu(3)));
  ASSERT_EQ(trace.code(), "");
  EXPECT_EQ(trace.slice("before").duration, 50_us);
  EXPECT_EQ(trace.timeline.slices().size(), fault.slices) << ::testing::PrintToString(trace.names());
  EXPECT_GE(trace.count(fault.code), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, ChakraFaults,
    ::testing::Values(NodeFault{"cut_within", delimited(field(1, 2) + "\x12\x7f"), "STV0770", 2},
                      NodeFault{"empty", delimited(""), "STV0770", 2},
                      NodeFault{"length_of_gigabytes", varint(1ull << 40), "STV0770", 1},
                      NodeFault{"longer_than_the_file", varint(1 << 20), "STV0741", 1},
                      NodeFault{"no_start", node(2, "k", 0, 1, cpu(3)), "STV0745", 2},
                      NodeFault{"wrong_wire_type", delimited(field(1, 2) + field(2, "k") + field(6, "1100")), "STV0745",
                                2},
                      NodeFault{"negative_duration", node(2, "k", 1100, ~0ull, cpu(3)), "STV0743", 3},
                      NodeFault{"zero_duration", node(2, "k", 1100, 0, device(1)), "STV0744", 3}),
    [](const auto& info) { return info.param.what; });

}  // namespace
}  // namespace stave::chakra_bytes
