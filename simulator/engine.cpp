#include "simulator/engine.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stave::simulator {

std::uint32_t Engine::add_device(const DeviceSpec& spec) {
  Device& device = devices_.emplace_back(Device{.sms = Sms(spec.sms)});
  device.copy_engines_free = device.copy_engines = spec.copy_engines;
  return static_cast<std::uint32_t>(devices_.size() - 1);
}

void Engine::set_rivalries(std::uint32_t n, std::vector<Rivalry> rivalries) {
  rivals_ = n;
  rivalries_ = std::move(rivalries);
}

OpId Engine::new_op() {
  OpId id;
  if (free_ops_.empty()) {
    id = static_cast<OpId>(ops_.size());
    ops_.emplace_back();
  } else {
    id = free_ops_.back();
    free_ops_.pop_back();
  }
  OpState& op = ops_[id];
  op.wanted = op.resident = op.retired = 0;
  op.started = op.moved = -1;
  op.unfinished = 0;
  ++op.run;
  op.waited_for = {};
  op.kernel = op.queued = op.over = false;
  op.activities.clear();
  return id;
}

ActivityId Engine::new_activity(const ActivitySpec& spec, std::span<const Use> uses, std::int64_t now) {
  ActivityId id;
  if (free_activities_.empty()) {
    id = static_cast<ActivityId>(activities_.size());
    activities_.emplace_back();
  } else {
    id = free_activities_.back();
    free_activities_.pop_back();
  }
  Activity& a = activities_[id];
  a.spec = spec;
  a.tiles.start(spec.kind, spec.tiles, spec.ctas, spec.work);
  a.share = sharing_.open(uses, now);
  if (of_share_.size() <= a.share) of_share_.resize(a.share + 1);
  of_share_[a.share] = id;
  a.event = a.moved = -1;
  a.gang = a.yield = false;
  a.alone = true;
  a.op = none;
  a.members.clear();
  a.level = 0;
  a.starts.clear();
  a.next_start = 0;
  return id;
}

OpId Engine::start_kernel(std::uint32_t device, const Order& order, const Footprint& footprint,
                          const ActivitySpec& spec, std::span<const Use> uses, std::int64_t now) {
  const OpId id = new_op();
  OpState& op = ops_[id];
  op.device = device;
  op.order = order;
  op.room = Room::Sms;
  op.footprint = footprint;
  op.kernel = true;
  op.unfinished = 1;
  const ActivityId activity = new_activity(spec, uses, now);
  activities_[activity].op = id;
  op.activities.push_back(activity);
  if (unhindered_) {
    count_uses(spec, uses);
    run_unhindered(id, now);
  } else {
    queue(id);
  }
  return id;
}

ActivityId Engine::open_gang(std::span<const std::uint32_t> devices, const ActivitySpec& spec,
                             std::span<const Use> uses, std::int64_t now) {
  const ActivityId id = new_activity(spec, uses, now);
  Activity& a = activities_[id];
  a.gang = true;
  for (const std::uint32_t device : devices) a.members.push_back({device, none});
  a.at_level.assign(static_cast<std::size_t>(spec.tiles) + 1, 0);
  a.at_level[0] = static_cast<std::uint32_t>(devices.size());
  if (unhindered_) count_uses(spec, uses);
  return id;
}

OpId Engine::join(std::uint32_t device, const Order& order, Room room, const Footprint& footprint,
                  std::int64_t channels, std::span<const ActivityId> activities, std::int64_t now) {
  const OpId id = new_op();
  OpState& op = ops_[id];
  op.device = device;
  op.order = order;
  op.room = room;
  op.footprint = footprint;
  op.wanted = channels;
  op.activities.assign(activities.begin(), activities.end());
  op.unfinished = static_cast<std::uint32_t>(activities.size());
  for (const ActivityId activity : activities) {
    Activity& a = activities_[activity];
    a.alone = a.alone && activities.size() == 1;
    for (Member& member : a.members)
      if (member.device == device) member.op = id;
  }
  if (unhindered_)
    run_unhindered(id, now);
  else
    queue(id);
  return id;
}

void Engine::queue(OpId id) {
  OpState& op = ops_[id];
  Device& device = devices_[op.device];
  auto& line = op.room == Room::Sms ? device.waiting : device.waiting_copies;
  std::size_t at = line.size();
  while (at > 0 && op.order < ops_[line[at - 1]].order) --at;
  line.insert(line.begin() + static_cast<std::ptrdiff_t>(at), id);
  op.queued = true;
  mark(op.device);
}

void Engine::note_changed(std::uint32_t device) {
  if (observed_[device]) return;
  observed_[device] = true;
  changed_devices_.push_back(device);
}

std::vector<std::uint32_t> Engine::take_changed() {
  std::sort(changed_devices_.begin(), changed_devices_.end());
  for (const std::uint32_t device : changed_devices_) observed_[device] = false;
  return std::exchange(changed_devices_, {});
}

void Engine::mark(std::uint32_t device) {
  if (devices_[device].dirty) return;
  changed(device);
  devices_[device].dirty = true;
  dirty_devices_.push_back(device);
}

void Engine::reschedule(ActivityId id) {
  if (activities_[id].rescheduled) return;
  activities_[id].rescheduled = true;
  rescheduled_.push_back(id);
}

void Engine::pace_of(Activity& a, std::int64_t now) {
  const auto working = static_cast<std::uint64_t>(a.tiles.working());
  const auto slots = static_cast<std::uint64_t>(a.spec.slots);
  if (working == 0) {
    sharing_.set_members(a.share, 0);
    return;
  }
  if (working == slots) {
    sharing_.set_boost(a.share, 1 << 16, now);
    sharing_.set_members(a.share, one_member);
    return;
  }
  const std::uint64_t all = (slots << 16) / working;  // speed of each that fills the whole
  const std::uint64_t boost = std::min<std::uint64_t>(a.spec.unit_cap, all);
  sharing_.set_boost(a.share, static_cast<std::uint32_t>(boost), now);
  sharing_.set_members(a.share, std::min(one_member, (boost * working << 4) / slots));
}

void Engine::schedule(ActivityId id, std::int64_t now) {
  Activity& a = activities_[id];
  const Work next = a.tiles.next(a.yield);
  if (next == no_work) return;
  const std::int64_t at = now + time_for(next - sharing_.progress(a.share, now), sharing_.pace(a.share));
  if (a.event >= 0 && a.event <= at) return;  // that event will look again
  a.event = at;
  events_.push({at, Milestone, id});
}

void Engine::advance(ActivityId id, std::int64_t now) {
  Activity& a = activities_[id];
  const std::int64_t left = a.tiles.advance(sharing_.progress(a.share, now), a.yield);
  if (left == 0) return;
  if (a.gang) {
    if (a.alone)
      for (const Member& member : a.members) retire(member.op, left);
  } else {
    retire(a.op, left);
  }
  if (a.tiles.done()) {
    finish_activity(id);
    return;
  }
  pace_of(a, now);
  reschedule(id);
}

void Engine::handle(const Event& event) {
  if (event.what == LeastEnd) return finish_activity(event.id);
  Activity& a = activities_[event.id];
  if (event.what == Milestone) {
    if (a.event != event.time) return;
    a.event = -1;
    // A slot that was given to another activity since has events of its own.
    if (a.tiles.working() == 0) return;
    advance(event.id, event.time);
    if (a.tiles.working() > 0) reschedule(event.id);
    return;
  }
  std::int64_t channels = 0;
  while (a.next_start < a.starts.size() && a.starts[a.next_start].time <= event.time)
    channels += a.starts[a.next_start++].channels;
  if (channels == 0) return;
  advance(event.id, event.time);
  a.tiles.place(channels, sharing_.progress(a.share, event.time));
  pace_of(a, event.time);
  reschedule(event.id);
}

void Engine::retire(OpId id, std::int64_t ctas) {
  OpState& op = ops_[id];
  op.retired += ctas;
  Device& device = devices_[op.device];
  if (op.room == Room::Sms)
    device.sms.retire(id, op.footprint, static_cast<std::uint32_t>(ctas));
  else
    ++device.copy_engines_free;
  device.freed_by[static_cast<std::size_t>(op.room)] = {id, op.run};
  mark(op.device);
}

void Engine::finish_activity(ActivityId id) {
  Activity& a = activities_[id];
  sharing_.close(a.share);
  if (a.gang) {
    for (const Member& member : a.members) {
      if (a.spec.rival != none) disappear(id, member.device);
      if (--ops_[member.op].unfinished == 0) finish_op(member.op);
    }
  } else {
    if (a.spec.rival != none) disappear(id, ops_[a.op].device);
    finish_op(a.op);
  }
  a.event = -1;
  a.members.clear();
  free_activities_.push_back(id);
}

void Engine::finish_op(OpId id) {
  OpState& op = ops_[id];
  changed(op.device);
  if (op.resident > op.retired) retire(id, op.resident - op.retired);
  op.over = true;
  Device& device = devices_[op.device];
  if (op.queued) {
    auto& line = op.room == Room::Sms ? device.waiting : device.waiting_copies;
    line.erase(std::find(line.begin(), line.end(), id));
    op.queued = false;
    mark(op.device);
  }
  if (op.kernel)
    if (const auto at = std::find(device.running.begin(), device.running.end(), id); at != device.running.end())
      device.running.erase(at);
  finished_.push_back(id);
}

void Engine::place(OpId id, std::int64_t ctas, std::int64_t now) {
  OpState& op = ops_[id];
  changed(op.device);
  const std::int64_t before = op.resident;
  op.resident += ctas;
  if (op.started < 0) {
    op.started = now;
    op.waited_for = devices_[op.device].freed_by[static_cast<std::size_t>(op.room)];
    if (op.order.eligible < now && op.waited_for.op != none) late_.push_back(id);
  }
  if (!op.kernel) {
    for (const ActivityId activity : op.activities) raise(activity, before, op.resident, now);
    return;
  }
  const ActivityId activity = op.activities[0];
  Activity& a = activities_[activity];
  if (a.moved < 0) {
    a.moved = op.moved = now;
    if (a.spec.rival != none) appear(activity, op.device, now);
    if (a.spec.kind == GridKind::OnePerTile) devices_[op.device].running.push_back(id);
  }
  a.tiles.place(ctas, sharing_.progress(a.share, now));
  pace_of(a, now);
  reschedule(activity);
}

void Engine::raise(ActivityId id, std::int64_t from, std::int64_t to, std::int64_t now) {
  Activity& a = activities_[id];
  const std::int64_t channels = a.spec.tiles;
  from = std::min(from, channels);
  to = std::min(to, channels);
  --a.at_level[static_cast<std::size_t>(from)];
  ++a.at_level[static_cast<std::size_t>(to)];
  const std::int64_t level = a.level;
  while (a.level < channels && a.at_level[static_cast<std::size_t>(a.level)] == 0) ++a.level;
  if (a.level == level) return;
  if (a.moved < 0) {
    a.moved = now;
    for (const Member& member : a.members) {
      OpState& op = ops_[member.op];
      if (op.moved < 0) op.moved = now;
      if (a.spec.rival != none) appear(id, member.device, op.started);
    }
  }
  a.starts.push_back({now + a.spec.latency, a.level - level});
  events_.push({now + a.spec.latency, ChannelStart, id});
}

void Engine::admit(std::uint32_t index, std::int64_t now) {
  Device& device = devices_[index];
  std::size_t gone = 0;
  for (; gone < device.waiting.size(); ++gone) {
    const OpId id = device.waiting[gone];
    OpState& op = ops_[id];
    std::int64_t want = op.wanted - op.resident;
    if (op.kernel) {
      Tiles& tiles = activities_[op.activities[0]].tiles;
      if (tiles.working() > 0) advance(op.activities[0], now);
      want = tiles.waiting();
    }
    if (want > 0) {
      const std::uint32_t placed = device.sms.place(
          id, op.footprint, static_cast<std::uint32_t>(std::min<std::int64_t>(want, device.sms.shape().count * 64)));
      if (placed > 0) place(id, placed, now);
      if (placed < want) break;
    }
    op.queued = false;
  }
  if (gone > 0)
    device.waiting.erase(device.waiting.begin(), device.waiting.begin() + static_cast<std::ptrdiff_t>(gone));
  set_yield(device, now);
  admit_copies(device, now);
}

void Engine::admit_copies(Device& device, std::int64_t now) {
  while (device.copy_engines_free > 0 && !device.waiting_copies.empty()) {
    const OpId id = device.waiting_copies.front();
    device.waiting_copies.erase(device.waiting_copies.begin());
    ops_[id].queued = false;
    --device.copy_engines_free;
    place(id, ops_[id].wanted, now);
  }
}

void Engine::set_yield(Device& device, std::int64_t now) {
  for (const OpId id : device.running) {
    const ActivityId activity = ops_[id].activities[0];
    Activity& a = activities_[activity];
    const bool yield = !device.waiting.empty() && ops_[device.waiting.front()].order.priority > ops_[id].order.priority;
    if (a.yield == yield) continue;
    a.tiles.advance(sharing_.progress(a.share, now), a.yield);
    a.yield = yield;
    reschedule(activity);
  }
}

void Engine::settle(std::int64_t now) {
  while (!dirty_devices_.empty()) {
    // Placing frees nothing, but a kernel that is found without tiles may end.
    admitting_.clear();
    admitting_.swap(dirty_devices_);
    std::sort(admitting_.begin(), admitting_.end());
    for (const std::uint32_t device : admitting_) {
      devices_[device].dirty = false;
      admit(device, now);
      devices_[device].freed_by = {};
    }
  }
  for (const std::uint32_t share : sharing_.solve(now)) reschedule(of_share_[share]);
  for (const ActivityId id : rescheduled_) {
    activities_[id].rescheduled = false;
    if (observes_) {
      if (activities_[id].op != none) changed(ops_[activities_[id].op].device);
      for (const Member& member : activities_[id].members) changed(member.device);
    }
    if (activities_[id].tiles.working() > 0) schedule(id, now);
  }
  rescheduled_.clear();
}

void Engine::appear(ActivityId id, std::uint32_t device, std::int64_t since) {
  devices_[device].residents.push_back({id, since});
  update_caps(device);
}

void Engine::disappear(ActivityId id, std::uint32_t device) {
  auto& residents = devices_[device].residents;
  const auto at = std::find_if(residents.begin(), residents.end(), [&](const Resident& r) { return r.activity == id; });
  if (at == residents.end()) return;
  residents.erase(at);
  update_caps(device);
}

std::uint64_t Engine::cap_of(ActivityId id) const {
  const Activity& a = activities_[id];
  std::uint64_t cap = full_pace;
  const auto on = [&](std::uint32_t device) {
    const auto& residents = devices_[device].residents;
    std::int64_t since = 0;
    for (const Resident& r : residents)
      if (r.activity == id) since = r.since;
    for (const Resident& r : residents) {
      if (r.activity == id) continue;
      const Rivalry& rivalry = rivalries_[a.spec.rival * rivals_ + activities_[r.activity].spec.rival];
      cap = std::min(cap, since < r.since ? rivalry.first : rivalry.later);
    }
  };
  if (a.gang)
    for (const Member& member : a.members) on(member.device);
  else
    on(ops_[a.op].device);
  return cap;
}

void Engine::update_caps(std::uint32_t device) {
  for (const Resident& r : devices_[device].residents)
    sharing_.set_cap(activities_[r.activity].share, cap_of(r.activity));
}

std::vector<std::uint32_t> Engine::missing(ActivityId gang) const {
  std::vector<std::uint32_t> devices;
  for (const Member& member : activities_[gang].members)
    if (member.op == none) devices.push_back(member.device);
  return devices;
}

}  // namespace stave::simulator
