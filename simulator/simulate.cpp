#include "simulator/simulate.h"

#include <algorithm>

#include "simulator/run.h"

namespace stave {

std::string Deadlock::to_text() const {
  std::string text = fmt::format("deadlock at {} ps:", time.count());
  for (const WaitFor& w : cycle)
    text += fmt::format("\n  rank {}{}{}: {}", w.rank, w.command.empty() ? "" : " at ", w.command, w.waits_for);
  return text;
}

std::vector<NetworkModelName> network_model_names() {
  std::vector<NetworkModelName> names;
  for (const simulator::NetworkModel& model : simulator::network_models()) names.push_back({model.name, model.summary});
  return names;
}

Result<PredictionSummary> simulate(const Plan& plan, const Machine& machine, const SimulateOptions& options,
                                   TimelineSink& sink) {
  const simulator::NetworkModel* model = simulator::network_model_named(options.network_model);
  if (!model) {
    std::string known;
    for (const simulator::NetworkModel& m : simulator::network_models())
      known += (known.empty() ? "" : ", ") + std::string(m.name);
    return error_at({}, "STV0852", "there is no network model '{}'; there are: {}", options.network_model, known);
  }
  if (plan.ranks() > static_cast<std::size_t>(machine.devices()))
    return error_at({}, "STV0854", "the schedule has {} ranks and machine '{}' has {} devices", plan.ranks(),
                    machine.name, machine.devices());
  std::vector<Rank> apart;
  for (const HostDelay& delay : options.host_delays) apart.push_back(delay.rank);
  // Jitter makes every rank its own; links of one rank to several that are equal would be taken for one.
  const Link* const link = machine.device_link();
  const bool links_differ = link && link->scope == "peer" && plan.ranks() > 2;
  simulator::Folding folding = options.fold && !options.jitter_seed && !links_differ
                                   ? simulator::fold(plan, machine.devices_per_node, apart)
                                   : simulator::unfolded(plan.ranks());
  return simulator::Run(plan, machine, options, *model, std::move(folding), sink).run();
}

Result<Prediction> simulate(const Plan& plan, const Machine& machine, const SimulateOptions& options) {
  Prediction prediction;
  TRY(prediction.summary, simulate(plan, machine, options, prediction.timeline));
  return prediction;
}

}  // namespace stave
