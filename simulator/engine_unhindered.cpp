// The engine with nothing in anything's way: the least that commands take, and what they ask for together (bound.h).
#include <algorithm>

#include "simulator/engine.h"

namespace stave::simulator {
namespace {

// No CTA is faster than `unit_cap`, and no more than `slots` at full speed get through the tiles together. A kernel
// whose last CTAs are few may take less beside another than alone, when it has fewer at a time.
std::int64_t least_time(const ActivitySpec& spec) {
  const auto work = static_cast<unsigned __int128>(spec.work);
  const auto tiles = static_cast<unsigned __int128>(spec.tiles), slots = static_cast<unsigned __int128>(spec.slots);
  const auto all = tiles * work / slots;
  const auto longest = (((tiles + slots - 1) / slots * work) << 16) / std::max<std::uint32_t>(spec.unit_cap, 1 << 16);
  return static_cast<std::int64_t>(std::max(all, longest) >> work_bits);
}

}  // namespace

// A gang begins when all have joined.
void Engine::run_unhindered(OpId id, std::int64_t now) {
  ops_[id].started = now;
  count_room(ops_[id]);
  for (const ActivityId activity : ops_[id].activities) {
    Activity& a = activities_[activity];
    if (a.gang && !missing(activity).empty()) continue;
    a.moved = now;
    for (const Member& member : a.members)
      if (OpState& op = ops_[member.op]; op.moved < 0) op.moved = now;
    if (!a.gang) ops_[id].moved = now;
    events_.push({now + (a.gang ? a.spec.latency : 0) + least_time(a.spec), LeastEnd, activity});
  }
}

// CTAs that are fewer than `slots` go up to `unit_cap` times as fast, which takes so much less of their SMs' time.
// The activities of one op share its CTAs: the largest counts. Of each thing that an SM has, a CTA takes a part; of
// those that need more than half of it, an SM has one at a time.
void Engine::count_room(const OpState& op) {
  Device& device = devices_[op.device];
  Sum most = 0;
  for (const ActivityId activity : op.activities) {
    const ActivitySpec& spec = activities_[activity].spec;
    Sum work = static_cast<Sum>(spec.tiles) * static_cast<Sum>(spec.work);
    if (op.room == Room::Sms) work = (work << 16) / std::max<std::uint32_t>(spec.unit_cap, 1 << 16);
    most = std::max(most, work);
  }
  if (op.room == Room::CopyEngine) {
    device.copy_work += most;
    return;
  }
  const SmShape& sm = device.sms.shape();
  const std::uint32_t needs[] = {op.footprint.threads, op.footprint.registers, op.footprint.shared_bytes, 1};
  const std::uint32_t haves[] = {sm.threads, sm.registers, sm.shared_bytes, sm.ctas};
  for (std::size_t i = 0; i < device.sm_parts.size(); ++i) {
    device.sm_parts[i] += most * needs[i] / std::max<std::uint32_t>(haves[i], 1);
    if (needs[i] > haves[i] / 2) device.sm_whole[i] += most;
  }
}

void Engine::count_uses(const ActivitySpec& spec, std::span<const Use> uses) {
  if (asked_.size() < sharing_.resources()) asked_.resize(sharing_.resources());
  const Sum work = static_cast<Sum>(spec.tiles) * static_cast<Sum>(spec.work) / static_cast<Sum>(spec.slots);
  for (const Use& use : uses) asked_[use.resource] += work * use.amount;
}

Picoseconds Engine::busy_sms(std::uint32_t device) const {
  const Device& d = devices_[device];
  const Sum most = std::max(*std::max_element(d.sm_parts.begin(), d.sm_parts.end()),
                            *std::max_element(d.sm_whole.begin(), d.sm_whole.end()));
  return Picoseconds{static_cast<std::int64_t>(most / d.sms.shape().count >> work_bits)};
}

Picoseconds Engine::busy_copy_engines(std::uint32_t device) const {
  const Device& d = devices_[device];
  return Picoseconds{static_cast<std::int64_t>(d.copy_work / d.copy_engines >> work_bits)};
}

Picoseconds Engine::busy(std::uint32_t resource) const {
  if (resource >= asked_.size() || !sharing_.shares(resource)) return {};
  return Picoseconds{static_cast<std::int64_t>(asked_[resource] / whole >> work_bits)};
}

}  // namespace stave::simulator
