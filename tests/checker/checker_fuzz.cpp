// usage: checker_fuzz [PROGRAMS=n] [SECONDS=n] [SEED=n] [FINDINGS=folder] [KEEP=n]
//
// Compares the checker with the explorer on random schedules, seeds SEED, SEED + 1, ...
// Prints counts by verdict, and of each disagreement a minimal schedule with both
// sides' reasons; ends after KEEP of them (1). Exit 1 if there was one.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "core/base/files.h"
#include "tests/checker/random_schedule.h"
#include "tests/checker/shrink.h"
#include "tests/checker/verdict.h"

namespace stave {
namespace {

struct FuzzArguments {
  std::int64_t programs = 10'000;
  std::int64_t seconds = 1'000'000;
  std::uint64_t seed = 1;
  std::int64_t keep = 1;
  std::string findings;
};

bool parse_fuzz_argument(const std::string& argument, FuzzArguments& out) {
  const std::size_t is = argument.find('=');
  if (is == std::string::npos) return false;
  const std::string name = argument.substr(0, is), value = argument.substr(is + 1);
  if (name == "FINDINGS") return out.findings = value, true;
  char* end = nullptr;
  const std::int64_t number = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0' || number < 0) return false;
  if (name == "PROGRAMS") return out.programs = number, true;
  if (name == "SECONDS") return out.seconds = number, true;
  if (name == "SEED") return out.seed = static_cast<std::uint64_t>(number), true;
  if (name == "KEEP") return out.keep = number, true;
  return false;
}

std::string commented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "// " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string finding_text(std::uint64_t seed, const RandomSchedule& schedule, const Compared& first) {
  const std::string small = shrink(schedule.text, [&](const std::string& text) {
    const Compared now = compare(text, schedule.mode);
    return now.outcome == Outcome::Disagrees && now.explored == first.explored && now.checked == first.checked;
  });
  const Compared now = compare(small, schedule.mode, {.report = true});
  return fmt::format("// seed {}, mode {}: the explorer says {}, the checker says {}\n{}{}", seed,
                     name_of(schedule.mode), now.explored, now.checked, commented(now.report), small);
}

int fuzz(const FuzzArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::seconds(arguments.seconds);
  std::map<std::string, std::int64_t> counts;
  std::int64_t compared = 0, disagreements = 0;
  for (std::int64_t i = 0; i < arguments.programs && disagreements < arguments.keep && Clock::now() < until; ++i) {
    const std::uint64_t seed = arguments.seed + static_cast<std::uint64_t>(i);
    const RandomSchedule schedule = random_schedule(seed);
    const Compared result = compare(schedule.text, schedule.mode);
    if (result.outcome == Outcome::Invalid) ++counts["(does not verify)"];
    if (result.outcome == Outcome::TooLarge) ++counts["(too large)"];
    if (result.outcome == Outcome::Invalid || result.outcome == Outcome::TooLarge) continue;
    ++compared;
    ++counts[result.explored];
    if (result.outcome != Outcome::Disagrees) continue;
    const std::string text = finding_text(seed, schedule, result);
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
    if (!arguments.findings.empty()) {
      const std::string path = fmt::format("{}/{}.stave", arguments.findings, seed);
      if (const Result<void> written = write_file(path, text); !written)
        std::printf("%s\n", to_text(written.problems()[0]).c_str());
    }
    ++disagreements;
  }
  for (const auto& [verdict, count] : counts)
    std::printf("%9lld  %s\n", static_cast<long long>(count), verdict.c_str());
  std::printf("%lld programs compared, %lld disagreements\n", static_cast<long long>(compared),
              static_cast<long long>(disagreements));
  return disagreements == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stave

int main(int argc, char** argv) {
  stave::FuzzArguments arguments;
  for (int i = 1; i < argc; ++i)
    if (!stave::parse_fuzz_argument(argv[i], arguments)) {
      std::printf("usage: checker_fuzz [PROGRAMS=n] [SECONDS=n] [SEED=n] [FINDINGS=folder] [KEEP=n]\n");
      return 2;
    }
  return stave::fuzz(arguments);
}
