#include "workbench/predict.h"

#include <algorithm>

#include "analysis/check/check_plan.h"
#include "profiles/store_writer.h"
#include "workbench/gantt.h"
#include "workbench/outputs.h"
#include "workbench/report_json.h"
#include "workbench/report_text.h"
#include "workbench/silence.h"
#include "workbench/units_text.h"
#include "workbench/work.h"

namespace stave {
namespace {

RunInfo run_info(const Schedule& schedule, const Predicted& predicted) {
  JsonWriter options;
  options.begin_object().field("network_model", predicted.options.simulate.network_model);
  options.field("observer_cupti", predicted.options.simulate.observer_cupti);
  options.field("clock", predicted.options.simulate.clock);
  options.field("peak_device_bytes", predicted.peak_device_bytes);
  const std::optional<Bound>& bound = predicted.bound;
  options.field("bound_ps", bound ? std::optional(bound->time.count()) : std::nullopt);
  options.field("bound_by", bound ? std::optional(bound->by) : std::nullopt).end_object();
  RunInfo info;
  info.label = predicted.options.label;
  info.kind = RunKind::Predicted;
  info.mode = name_of(predicted.options.mode);
  info.world_size = static_cast<std::uint32_t>(predicted.ranks);
  info.tool = "stave";
  info.tool_version = STAVE_VERSION;
  info.options_json = std::move(options).finish();
  info.schedule_text = text_with_params(schedule, predicted.options.params);
  info.machine_text = predicted.machine.text;
  return info;
}

// A prediction knows no data: a schedule that reads what is not there yet is predicted like any other, and faster.
Result<void> warn_of_errors(const Schedule& schedule, const Plan& plan, Progress* progress, Problems& warnings) {
  if (progress) progress->begin("checking");
  TRY(PlanCheck check, check_plan(plan, {.lints = false, .progress = progress}));
  silence(schedule.file, schedule.text, check.findings);
  const Finding* first = nullptr;
  std::size_t errors = 0;
  for (const Finding& f : check.findings) {
    if (f.problem.severity != Severity::Error || !f.silenced.empty()) continue;
    if (++errors == 1) first = &f;
  }
  if (!first) return {};
  warnings.push_back({Severity::Warning,
                      "STV0917",
                      fmt::format("`stave check` finds {} here, the first: {} [{}]; a run may do something else than "
                                  "this prediction",
                                  errors == 1 ? "an error" : fmt::format("{} errors", errors), first->problem.message,
                                  first->problem.code),
                      first->problem.place,
                      {}});
  return {};
}

// What a command uses of a resource is rounded up, to 2^-30 of its capacity.
Result<std::optional<Bound>> bound_below(const Plan& plan, const Machine& machine, const SimulateOptions& options,
                                         const PredictionSummary& predicted) {
  if (predicted.deadlock) return std::optional<Bound>();
  if (options.progress) options.progress->begin("looking for the bound");
  TRY(std::optional<Bound> bound, bound_of(plan, machine, options));
  if (bound) bound->time = std::min(bound->time, predicted.makespan);
  return bound;
}

Result<std::optional<JitterResult>> jitter_of(const Plan& plan, const Machine& machine, const PredictOptions& options,
                                              const PredictionSummary& quiet) {
  if (options.jitter == 0 || quiet.deadlock) return std::optional<JitterResult>();
  JitterResult result{quiet.makespan, quiet.makespan, false};
  for (std::uint32_t seed = 1; seed <= options.jitter; ++seed) {
    SimulateOptions simulate_options = options.simulate;
    simulate_options.jitter_seed = seed;
    if (Progress* progress = options.simulate.progress) progress->begin("predicting with jitter");
    TRY(const Prediction one, simulate(plan, machine, simulate_options));
    if (one.summary.cancelled) return std::optional<JitterResult>();
    result.low = std::min(result.low, one.summary.makespan);
    result.high = std::max(result.high, one.summary.makespan);
    result.fragile = result.fragile || one.summary.race_signature != quiet.race_signature;
  }
  return std::optional(result);
}

// Nothing where full clock is what the device keeps.
std::string power_text(const Predicted& predicted) {
  if (!predicted.power_w) return "";
  const double limit = predicted.machine.device.power_limit_w.value;
  const double clock = predicted.options.simulate.clock;
  if (clock < 1)
    return fmt::format("\nclock    {:.1f} % of full: {:.0f} W a device on average, the limit is {:.0f} W", clock * 100,
                       *predicted.power_w, limit);
  if (predicted.options.sustained)
    return fmt::format("\nclock    full: {:.0f} W a device on average, the limit is {:.0f} W", *predicted.power_w,
                       limit);
  if (*predicted.power_w <= limit) return "";
  return fmt::format(
      "\npower    {:.0f} W a device on average, above the limit of {:.0f} W: in the long run it is slower "
      "(--clock sustained)",
      *predicted.power_w, limit);
}

std::string remark_of(const Predicted& predicted) {
  const std::string_view remark = measured_remark(predicted.machine);
  return remark.empty() ? "" : fmt::format(" ({})", remark);
}

}  // namespace

Result<Predicted> predict(const Schedule& schedule, const PredictOptions& options) {
  Progress* progress = options.simulate.progress;
  if (progress) progress->begin("expanding");
  TRY(Machine machine, find_machine(options.machine));
  TRY(Expansion expansion, expand_and_verify(schedule.module, {.params = options.params}));
  TRY(const Plan plan, lower(std::move(expansion), options.mode));
  if (plan.ranks() > static_cast<std::size_t>(machine.devices()))
    return error_at(
        {.file = schedule.file}, "STV0910",
        "the schedule has {} ranks and machine {} has {} devices; rank r sits on device r. `stave machines` lists "
        "others",
        plan.ranks(), machine.name, machine.devices());
  Problems warnings;
  // Who edits a machine file must know what an edit does not change.
  if (options.machine.find('/') != std::string::npos || options.machine.ends_with(".toml"))
    for (const std::string& note : table_notes(machine))
      warnings.push_back({Severity::Note, "STV0918", note, {.file = machine.file}, {}});
  std::int64_t peak = 0;
  for (const RankClass& rank_class : plan.classes) peak = std::max(peak, device_bytes(rank_class.expanded));
  if (static_cast<double>(peak) > machine.device.memory_bytes.value)
    warnings.push_back({Severity::Warning,
                        "STV0912",
                        fmt::format("it needs {} a device; {} has {}", bytes_text(peak), machine.name,
                                    bytes_text(static_cast<std::int64_t>(machine.device.memory_bytes.value))),
                        {.file = schedule.file},
                        {}});
  if (progress) progress->begin("predicting", work_of(plan).commands.value_or(0) * options.simulate.steps);
  PredictOptions at_clock = options;
  TRY(Prediction prediction, options.sustained ? simulate_sustained(plan, machine, at_clock.simulate)
                                               : simulate(plan, machine, options.simulate));
  Predicted out{.machine = std::move(machine),
                .prediction = std::move(prediction),
                .options = std::move(at_clock),
                .peak_device_bytes = peak,
                .ranks = plan.ranks()};
  PredictionSummary& summary = out.prediction.summary;
  out.power_w = average_power_w(out.machine, summary);
  out.cancelled = summary.cancelled;
  if (out.cancelled) return out;
  if (!summary.deadlock)
    if (Result<void> checked = warn_of_errors(schedule, plan, progress, warnings); !checked) {
      if (checked.problems()[0].code != "STV0950") return Failure(checked.problems());
      out.cancelled = true;
      return out;
    }
  out.report = make_report(out.prediction.timeline, {"all", "", {Time{0}, summary.makespan}});
  for (RankUse& use : out.report.ranks) use.peak_device_bytes = device_bytes(plan.of_rank(use.rank).expanded);
  summary.notes.insert(summary.notes.begin(), warnings.begin(), warnings.end());
  TRY(out.bound, bound_below(plan, out.machine, out.options.simulate, summary));
  TRY(out.jitter, jitter_of(plan, out.machine, out.options, summary));
  out.cancelled = progress && progress->cancelled();
  return out;
}

Result<bool> save(const Schedule& schedule, const Predicted& predicted, const std::string& path,
                  const SaveOptions& options) {
  TRY_VOID(check_output({"-o", path, OutputKind::Run}, options.replace, {&schedule.file, 1}));
  TRY(StoreWriter writer, StoreWriter::create(path, run_info(schedule, predicted)));
  if (options.progress) options.progress->begin("storing");
  auto written = [&]() -> Result<void> {
    // What a cancelled prediction has is kept whole.
    if (predicted.cancelled) return replay(predicted.prediction.timeline, writer);
    TRY_VOID(replay(predicted.prediction.timeline, writer, options.progress));
    return writer.close();
  }();
  if (written) return !predicted.cancelled;
  if (written.problems()[0].code == "STV0950") return false;
  writer.discard();
  return Failure(written.problems());
}

std::optional<Problem> deadlock_of(const Predicted& predicted, const Schedule& schedule) {
  const std::optional<Deadlock>& deadlock = predicted.prediction.summary.deadlock;
  if (!deadlock) return std::nullopt;
  const auto place_of = [&](const std::string& command) {
    Place place{.file = schedule.file};
    for (const TimelineCommand& row : predicted.prediction.timeline.commands())
      if (row.key == command) place = {.file = schedule.file, .line = row.line, .column = row.column};
    return place;
  };
  Problem problem{Severity::Error,
                  "STV0890",
                  fmt::format("deadlock: nothing can go on after {}", duration_text(deadlock->time)),
                  {.file = schedule.file},
                  {}};
  for (const Deadlock::WaitFor& w : deadlock->cycle) {
    const Place place = place_of(w.command);
    if (problem.place.line == 0) problem.place = place;
    problem.notes.push_back(
        {fmt::format("rank {}{}{}: {}", w.rank, w.command.empty() ? "" : " at ", w.command, w.waits_for), place});
  }
  return problem;
}

std::string predict_text(const Schedule& schedule, const Predicted& predicted) {
  const Report& report = predicted.report;
  std::string out = fmt::format("{} on {}, {}{}\n", schedule.file, predicted.machine.name,
                                name_of(predicted.options.mode), remark_of(predicted));
  if (const std::optional<Problem> deadlock = deadlock_of(predicted, schedule))
    return out + to_text(*deadlock, schedule.text);
  out += fmt::format("\n{}\n{}", gantt(predicted.prediction.timeline, report.window.span), ranks_text(report));
  out += fmt::format("\nmakespan {}", duration_text(predicted.prediction.summary.makespan));
  if (const RankUse* worst = report.worst(); worst != nullptr && worst->communication.count() > 0)
    out += fmt::format(", communication {} of which {:.1f} % is hidden and {} exposed (rank {})",
                       duration_text(worst->communication), *percent(worst->overlap, worst->communication),
                       duration_text(worst->exposed_communication), worst->rank);
  if (const std::optional<Bound>& bound = predicted.bound)
    if (const auto part = percent(bound->time, predicted.prediction.summary.makespan))
      out += fmt::format("\nbound    {} by the {}, {:.1f} % of the makespan{}", duration_text(bound->time), bound->by,
                         *part, *part >= 99 ? ": only a changed schedule can be faster" : "");
  if (const std::optional<JitterResult>& jitter = predicted.jitter)
    out += fmt::format("\njitter   {} to {} over {} runs{}", duration_text(jitter->low), duration_text(jitter->high),
                       predicted.options.jitter,
                       jitter->fragile ? "; FRAGILE: who gets the SMs first depends on the host's pace" : "");
  out += power_text(predicted);
  out += fmt::format("\nmemory   {} a device at most\n", bytes_text(predicted.peak_device_bytes));
  if (predicted.prediction.summary.extrapolated_count > 0)
    out += fmt::format("{} commands lie outside the machine's tables: their times are extrapolated\n",
                       predicted.prediction.summary.extrapolated_count);
  for (const Problem& problem : predicted.prediction.summary.notes) out += to_text(problem);
  return out;
}

std::string predict_json(const Schedule& schedule, const Predicted& predicted,
                         const std::optional<std::string>& output) {
  const Report& report = predicted.report;
  const RankUse* worst = report.worst();
  const auto of_worst = [&](Picoseconds RankUse::*member) {
    return worst == nullptr ? std::nullopt : std::optional<std::int64_t>((worst->*member).count());
  };
  JsonWriter json;
  Problems problems = predicted.prediction.summary.notes;
  if (std::optional<Problem> deadlock = deadlock_of(predicted, schedule))
    problems.push_back(flattened(*std::move(deadlock)));
  begin_document(json, "stave.sim/1", problems);
  json.key("run");
  write_run(json, {.label = predicted.options.label,
                   .kind = "predicted",
                   .mode = std::string(name_of(predicted.options.mode)),
                   .file = output.value_or(""),
                   .schedule = schedule.file,
                   .schedule_sha256 = schedule.sha256,
                   .machine = predicted.machine.name,
                   .machine_sha256 = predicted.machine.sha256,
                   .ranks_count = predicted.ranks,
                   .world_ranks_count = predicted.ranks,
                   .steps_count = report.steps.size()});
  json.key("params").begin_object();
  for (const auto& [name, value] : predicted.options.params) json.field(name, value);
  json.end_object();
  json.field("network_model", predicted.options.simulate.network_model).key("seed");
  if (predicted.options.simulate.jitter_seed) {
    json.value(*predicted.options.simulate.jitter_seed);
  } else {
    json.null();
  }
  const bool ended = !predicted.prediction.summary.deadlock;
  json.field("makespan_ps", ended ? std::optional(predicted.prediction.summary.makespan.count()) : std::nullopt);
  const std::optional<JitterResult>& jitter = predicted.jitter;
  json.field("makespan_low_ps", jitter ? std::optional(jitter->low.count()) : std::nullopt);
  json.field("makespan_high_ps", jitter ? std::optional(jitter->high.count()) : std::nullopt);
  const std::optional<Bound>& bound = predicted.bound;
  json.field("bound_ps", bound ? std::optional(bound->time.count()) : std::nullopt);
  json.field("bound_pct", bound ? percent(bound->time, predicted.prediction.summary.makespan) : std::nullopt);
  json.field("bound_by", bound ? std::optional(bound->by) : std::nullopt);
  json.field("clock", predicted.options.sustained ? "sustained" : "full");
  json.field("clock_pct", predicted.options.simulate.clock * 100);
  json.field("power_w", predicted.power_w);
  json.field("fragile", jitter ? std::optional(jitter->fragile) : std::nullopt);
  json.field("worst_rank", report.worst_rank);
  json.field("exposed_communication_ps", of_worst(&RankUse::exposed_communication));
  json.field("overlap_pct", worst == nullptr ? std::nullopt : percent(worst->overlap, worst->communication));
  json.field("arrival_wait_ps", of_worst(&RankUse::arrival_wait));
  json.field("peak_device_bytes", predicted.peak_device_bytes);
  json.field("extrapolated_count", predicted.prediction.summary.extrapolated_count);
  write_ranks(json, report);
  write_path(json, predicted.prediction.timeline, report);
  json.field("output", output).end_object();
  return std::move(json).finish();
}

}  // namespace stave
