#include "tests/checker/verdict.h"

#include <algorithm>

#include "core/text/parse.h"

namespace stave {

namespace {

std::string words(const std::array<bool, defect_count>& shows) {
  std::string text;
  for (std::size_t i = 0; i < defect_count; ++i)
    if (shows[i]) text += fmt::format("{}{}", text.empty() ? "" : " ", name_of(static_cast<Defect>(i)));
  return text;
}

std::string reasons(const Exploration& exploration, const Findings& findings) {
  std::string text;
  for (std::size_t i = 0; i < defect_count; ++i) {
    if (!exploration.witnesses[i]) continue;
    const Witness& witness = *exploration.witnesses[i];
    text += fmt::format("explorer: {}: {}\n", name_of(static_cast<Defect>(i)), witness.what);
    for (const std::string& input : witness.inputs) text += fmt::format("  with {}\n", input);
    for (const std::string& step : witness.steps) text += fmt::format("  {}\n", step);
  }
  for (const Finding& finding : findings) text += fmt::format("checker: {}\n", to_text(finding.problem));
  return text;
}

}  // namespace

CheckedVerdict verdict_of(const Findings& findings) {
  CheckedVerdict verdict;
  const auto note = [&](Defect defect) { verdict.shows[static_cast<std::size_t>(defect)] = true; };
  for (const Finding& finding : findings) {
    const std::string& code = finding.problem.code;
    if (finding.behind_stop) continue;  // no run shows it
    if (code == "STV1001")
      note(Defect::Race);
    else if (code == "STV1002")
      note(Defect::Uninitialised);
    else if (code == "STV1010" || code == "STV1012")
      note(Defect::Mismatch);
    else if (code == "STV1013" || code == "STV1014" || code == "STV1020" || code == "STV1021")
      note(Defect::Deadlock);
    else if (code == "STV1011")
      verdict.not_uniform = true;
    else
      verdict.other_codes += " " + code;
  }
  return verdict;
}

std::string to_text(const Exploration& exploration) {
  std::array<bool, defect_count> shows{};
  for (std::size_t i = 0; i < defect_count; ++i) shows[i] = exploration.witnesses[i].has_value();
  const std::string text = words(shows);
  return text.empty() ? "clean" : text;
}

std::string to_text(const CheckedVerdict& verdict) {
  std::string text = words(verdict.shows);
  if (verdict.not_uniform) text += text.empty() ? "not uniform" : ", not uniform";
  return text.empty() ? "clean" : text;
}

Outcome outcome_of(const Exploration& exploration, const CheckedVerdict& checked) {
  const auto explored = [&](Defect defect) { return exploration.shows(defect); };
  const auto claimed = [&](Defect defect) { return checked.shows[static_cast<std::size_t>(defect)]; };
  const auto both = [&](Defect defect) { return explored(defect) == claimed(defect); };
  if (explored(Defect::Race)) return claimed(Defect::Race) ? Outcome::Agrees : Outcome::Disagrees;

  // A mismatch stops its ranks, too: another reason that they may have to stand still is not looked for.
  const bool mismatch = explored(Defect::Mismatch) && claimed(Defect::Mismatch) && !claimed(Defect::Deadlock);
  const bool stops = explored(Defect::Mismatch) || explored(Defect::Deadlock);
  const bool same_stops = checked.not_uniform ? stops : mismatch || (both(Defect::Mismatch) && both(Defect::Deadlock));
  return same_stops && both(Defect::Race) && both(Defect::Uninitialised) ? Outcome::Agrees : Outcome::Disagrees;
}

Result<Plan> plan_of_text(std::string_view text, Mode mode) {
  TRY(Module module, parse("schedule.stave", text));
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module))));
  return lower(std::move(expansion), mode);
}

Compared compare(std::string_view text, Mode mode, const CompareOptions& options) {
  Compared out;
  const Result<Plan> plan = plan_of_text(text, mode);
  if (plan) return compare(*plan, options);
  for (const Problem& problem : plan.problems()) out.report += to_text(problem) + "\n";
  return out;
}

Compared compare(const Plan& plan, const CompareOptions& options) {
  Compared out;
  const Result<PlanCheck> check = check_plan(plan, {.sms = options.sms});
  const Result<Exploration> exploration =
      explore(plan, {.sms = options.sms, .max_states = options.max_states, .stop_at_race = true});
  if (!exploration || !check || !check->exact) {
    out.outcome = Outcome::TooLarge;
    for (const Problem& problem : exploration ? Problems{} : exploration.problems()) out.report += to_text(problem);
    for (const Problem& problem : check ? Problems{} : check.problems()) out.report += to_text(problem);
    return out;
  }
  const CheckedVerdict checked = verdict_of(check->findings);
  out.outcome = outcome_of(*exploration, checked);
  out.explored = to_text(*exploration);
  out.checked = to_text(checked);
  if (options.report) out.report = reasons(*exploration, check->findings);
  return out;
}

}  // namespace stave
