// What stave and stave-gpu tell each other arrives as it was sent.
#include "executor/gpu_protocol.h"

#include <gtest/gtest.h>

namespace stave {
namespace {

TEST(GpuProtocol, MessagesArriveAsTheyWere) {
  GpuRequest request{"f.stave", "stave 1\n", {{"n", "8"}}, Mode::Captured, {"a=iota", "b=1"}, 2, 3, 4};
  request.timeout = std::chrono::milliseconds(5);
  request.duration = std::chrono::milliseconds(6);
  request.profile = Profile::Graph;
  request.flush_l2 = request.name_hangs = true;
  const Result<GpuRequest> got = decode_request(encode(request));
  ASSERT_TRUE(got);
  EXPECT_TRUE(*got == request);
  const GpuBuffer buffer{3, 1, std::string("\0\xff", 2)};
  EXPECT_TRUE(*decode_buffer(encode(buffer)) == buffer);
  const GpuStep step{7, {Picoseconds{1}, Picoseconds{-2}}, {Picoseconds{3}}};
  EXPECT_TRUE(*decode_step(encode(step)) == step);
}

TEST(GpuProtocol, AHangAndProblemsKeepTheirPlaces) {
  StepReport report;
  report.executed = {{1, 2}, {}};
  report.durations = {Picoseconds{4}};
  report.issue = {Picoseconds{5}, Picoseconds{6}};
  report.hang = Hang{{{1, {StreamRef::Kind::Communication, 2}, "a", "b", {"f", 1, 2, 3, 4}, 5, Rank{0}, "why"},
                      {0, {}, "", "c", {}, 0, std::nullopt, "busy"}}};
  const Result<StepReport> got = decode_report(encode(report));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->executed, report.executed);
  EXPECT_EQ(got->durations, report.durations);
  EXPECT_EQ(got->issue, report.issue);
  EXPECT_EQ(to_text(*got->hang), to_text(*report.hang));
  EXPECT_EQ(got->hang->blocked[0].place, report.hang->blocked[0].place);
  EXPECT_FALSE(got->hang->blocked[1].peer);
  const Problems problems = {{Severity::Error, "STV0001", "m", {"f", 1, 2, 0, 0}, {{"n", {"g", 3, 4, 0, 0}}}}};
  EXPECT_EQ(*decode_problems(encode(problems)), problems);
}

TEST(GpuProtocol, ACutMessageIsRefused) {
  const std::string whole = encode(GpuRequest{});
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(decode_request(std::string_view(whole).substr(0, n))) << n;
  EXPECT_FALSE(decode_report(std::string(8, '\xff')));
}

}  // namespace
}  // namespace stave
