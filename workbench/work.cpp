#include "workbench/work.h"

#include <algorithm>
#include <charconv>

namespace stave {
namespace {

double multiply_adds_of(const Expanded& expanded, CommandRegionId region, double times) {
  double sum = 0;
  for (const CommandId id : expanded.regions[region].commands) {
    const Command& command = expanded[id];
    if (const auto* gemm = std::get_if<Gemm>(&command.payload)) {
      const std::span<const std::int64_t> a = expanded.shape(expanded[ViewId{command.operands.first}]);
      const auto k = static_cast<double>(a[a.size() - (gemm->transpose_a ? 2 : 1)]);
      sum += times * k * static_cast<double>(expanded.elements(expanded[ViewId{command.results.first}]));
    }
    double inside = times;
    if (std::holds_alternative<While>(command.payload) && command.cost)
      inside *= static_cast<double>(expanded.costs[command.cost].trips.value_or(1));
    for (const CommandRegionId nested : command.regions) sum += multiply_adds_of(expanded, nested, inside);
  }
  return sum;
}

std::optional<std::int64_t> launches_of(const IssueProgram& program) {
  std::int64_t launches = 0;
  for (const Action& action : program.actions) {
    if (action.kind == Action::Kind::Branch) return std::nullopt;
    launches += action.kind == Action::Kind::Launch;
  }
  for (const GraphNode& node : program.nodes) {
    if (node.kind != GraphNode::Kind::Launch) return std::nullopt;
    ++launches;
  }
  return launches;
}

// The integer params of a schedule with the values that they have now.
std::vector<std::pair<std::string, std::int64_t>> integer_params(const Module& module, const ParamValues& given) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const ParamDecl& param : module.params) {
    std::optional<std::int64_t> value;
    if (const Expr& e = module.exprs[param.value]; e.kind == ExprKind::Integer) value = e.as_integer();
    for (const auto& [name, text] : given) {
      if (name != module.text(param.name)) continue;
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      value = error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
    }
    if (value) out.emplace_back(module.text(param.name), *value);
  }
  return out;
}

// "--param m=512 --param k=1024": the largest ones halved until the reference is
// quick; nothing if that breaks a rule or does not help.
std::string quick_params(const Schedule& schedule, const ParamValues& given) {
  std::vector<std::pair<std::string, std::int64_t>> params = integer_params(*schedule.module, given);
  const auto before = params;
  while (!params.empty()) {
    const auto largest = std::max_element(params.begin(), params.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    if (largest->second < 2 || largest->second % 2 != 0) return "";
    largest->second /= 2;
    ParamValues values = given;
    std::string text;
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].second == before[i].second) continue;
      const std::string number = std::to_string(params[i].second);
      std::erase_if(values, [&](const auto& value) { return value.first == params[i].first; });
      values.emplace_back(params[i].first, number);
      text += fmt::format("{}--param {}={}", text.empty() ? "" : " ", params[i].first, number);
    }
    Result<Expansion> expansion = expand_and_verify(schedule.module, {.params = values});
    if (!expansion) return "";
    const Result<Plan> plan = lower(*std::move(expansion), Mode::Eager);
    if (!plan) return "";
    if (work_of(*plan).multiply_adds <= many_multiply_adds / 100) return text;
  }
  return "";
}

std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} h", seconds / 3600);
}

}  // namespace

Work work_of(const Plan& plan) {
  Work work{0, 0};
  for (std::size_t i = 0; i < plan.classes.size(); ++i) {
    const RankClass& c = plan.classes[i];
    const auto ranks = std::count(plan.class_of_rank.begin(), plan.class_of_rank.end(), static_cast<std::uint32_t>(i));
    work.multiply_adds += static_cast<double>(ranks) * multiply_adds_of(c.expanded, c.expanded.body, 1);
    const std::optional<std::int64_t> launches = launches_of(c.program);
    work.commands = work.commands && launches ? std::optional(*work.commands + ranks * *launches) : std::nullopt;
  }
  return work;
}

std::optional<Problem> slow_note(const Schedule& schedule, const ParamValues& params, const Work& work) {
  if (work.multiply_adds <= many_multiply_adds) return std::nullopt;
  const std::string quick = quick_params(schedule, params);
  const double seconds = work.multiply_adds / reference_multiply_adds_per_s;
  return Problem{
      Severity::Note,
      "STV0951",
      fmt::format("this is {:.2g} multiply-adds; the CPU reference computes every element of every rank on "
                  "one core, which may take {}{}",
                  work.multiply_adds, time_text(seconds), quick.empty() ? "" : "; for a quick run: " + quick),
      {.file = schedule.file},
      {}};
}

}  // namespace stave
