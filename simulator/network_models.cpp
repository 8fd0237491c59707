#include "simulator/network_models.h"

#include <array>

namespace stave::simulator {
namespace {

bool shares_all(ResourceKind) { return true; }
bool shares_inside_a_device(ResourceKind kind) { return kind != ResourceKind::Link && kind != ResourceKind::Pcie; }

constexpr std::array<NetworkModel, 2> models{{
    {"max-min", "what competes for a link, the memory or the power gets an equal part of its own full speed",
     shares_all, max_min},
    {"alpha-beta", "latency plus size over bandwidth; links are never shared", shares_inside_a_device, max_min},
}};

}  // namespace

std::span<const NetworkModel> network_models() { return models; }

const NetworkModel* network_model_named(std::string_view name) {
  for (const NetworkModel& model : models)
    if (model.name == name) return &model;
  return nullptr;
}

}  // namespace stave::simulator
