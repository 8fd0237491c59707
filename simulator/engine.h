// The devices of a run: who is resident, who waits for room, and how fast each
// gets on. Knows no streams and no schedules; what runs is an op (one launch on
// one device) and the activities that it takes part in.
//
// Unhindered, nothing waits for room and nothing shares: each command takes the least that it can. What all of them ask
// of each resource together is counted; both make a lower bound (bound.h).
//
// Within one instant the caller handles all events, then calls settle(): CTAs
// are placed and rates solved once, so the order of the events does not matter.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "simulator/event_queue.h"
#include "simulator/sharing.h"
#include "simulator/sms.h"
#include "simulator/tiles.h"

namespace stave::simulator {

using OpId = std::uint32_t;
using ActivityId = std::uint32_t;
inline constexpr std::uint32_t none = 0xffffffff;

// In which order waiting launches get room: higher priority, longer eligible,
// lower stream, earlier command. The first that does not fit blocks those behind
// it, as in the hardware's queues (Amert et al., "GPU Scheduling on the NVIDIA
// TX2", RTSS 2017); a launch of higher priority goes before it.
struct Order {
  std::int32_t priority = 0;
  std::int64_t eligible = 0;
  std::uint32_t stream = 0;
  std::uint32_t command = 0;

  friend bool operator<(const Order& a, const Order& b) {
    return std::tuple(-a.priority, a.eligible, a.stream, a.command) <
           std::tuple(-b.priority, b.eligible, b.stream, b.command);
  }
};

struct DeviceSpec {
  SmShape sms;
  std::uint32_t copy_engines = 1;
};

// What runs: `slots` CTAs at full pace do `work` for each tile in turn.
struct ActivitySpec {
  GridKind kind = GridKind::OnePerTile;
  std::int64_t tiles = 1;
  std::int64_t ctas = 1;
  std::int64_t slots = 1;
  Work work = 0;  // of one tile
  // The most that one CTA does, as a multiple of a `slots`-th of full speed: 16-bit binary fraction.
  std::uint32_t unit_cap = 1 << 16;
  std::int64_t latency = 0;  // before a channel of a gang moves, ps
  std::uint32_t rival = none;
};

// How much of its own speed one kind of kernel keeps beside another (binary
// fractions of full_pace): `later` if it came when the other was resident.
struct Rivalry {
  std::uint64_t later = full_pace;
  std::uint64_t first = full_pace;
};

enum class Room : std::uint8_t { Sms, CopyEngine };

// An op, and which of those that had its id.
struct OpRun {
  OpId op = none;
  std::uint32_t run = 0;
};

struct OpState {
  std::uint32_t device = 0;
  Order order;
  Room room = Room::Sms;
  Footprint footprint;
  std::int64_t wanted = 0;  // gang: CTAs (channels); a copy engine: 1
  std::int64_t resident = 0;
  std::int64_t retired = 0;
  std::int64_t started = -1;  // its first CTA resident
  std::int64_t moved = -1;    // work began
  std::uint32_t run = 0;
  OpRun waited_for{};  // whose CTAs (or copy engine) it took over, if it waited for room
  std::uint32_t unfinished = 0;
  bool kernel = false;
  bool queued = false;
  bool over = false;
  std::vector<ActivityId> activities;
};

class Engine {
 public:
  // Kinds of its own events; the caller's start at `first_free_event`.
  enum : std::uint32_t { Milestone, ChannelStart, LeastEnd };
  static constexpr std::uint32_t first_free_event = LeastEnd + 1;

  Engine(const NetworkModel& model, EventQueue& events, bool unhindered = false)
      : unhindered_(unhindered), sharing_(model), events_(events) {}

  std::uint32_t add_device(const DeviceSpec& spec);
  // rivalries[a * n + b]: of a beside b.
  void set_rivalries(std::uint32_t n, std::vector<Rivalry> rivalries);
  Sharing& sharing() { return sharing_; }

  OpId start_kernel(std::uint32_t device, const Order& order, const Footprint& footprint, const ActivitySpec& spec,
                    std::span<const Use> uses, std::int64_t now);

  // A gang of `spec.tiles` channels on these devices; joined by one op on each.
  // A channel moves once it is resident on all of them.
  ActivityId open_gang(std::span<const std::uint32_t> devices, const ActivitySpec& spec, std::span<const Use> uses,
                       std::int64_t now);
  // `channels` CTAs, or one copy engine, for all of `activities` together.
  OpId join(std::uint32_t device, const Order& order, Room room, const Footprint& footprint, std::int64_t channels,
            std::span<const ActivityId> activities, std::int64_t now);

  void handle(const Event& event);
  void settle(std::int64_t now);
  bool unsettled() const { return !dirty_devices_.empty() || !rescheduled_.empty() || sharing_.dirty(); }

  // Keeps count of the devices where something changed, for take_changed.
  void observe() {
    observed_.resize(devices_.size());
    observes_ = true;
  }
  // Devices where residents or rates changed since the last call, ascending; none unless observed.
  std::vector<std::uint32_t> take_changed();

  // Ops that started since the last call, after a wait for room.
  std::vector<OpId> take_late() { return std::exchange(late_, {}); }
  // Ops that ended since the last call of release; in a fixed order.
  std::vector<OpId>& finished() { return finished_; }
  const OpState& op(OpId id) const { return ops_[id]; }
  void release(OpId id) { free_ops_.push_back(id); }
  // Devices of a gang that no op has joined yet.
  std::vector<std::uint32_t> missing(ActivityId gang) const;
  std::int64_t moved(ActivityId gang) const { return activities_[gang].moved; }
  const Sms& sms(std::uint32_t device) const { return devices_[device].sms; }
  // Unhindered: how long a device's SMs, its copy engines, and a resource of `sharing` would be busy with all that ran.
  Picoseconds busy_sms(std::uint32_t device) const;
  Picoseconds busy_copy_engines(std::uint32_t device) const;
  Picoseconds busy(std::uint32_t resource) const;
  // Ops that wait for room on a device, first in line first.
  std::span<const OpId> waiting(std::uint32_t device) const { return devices_[device].waiting; }

 private:
  using Sum = unsigned __int128;  // of work, in parts of what it is asked of

  struct Member {
    std::uint32_t device = 0;
    OpId op = none;
  };
  struct Start {
    std::int64_t time = 0;
    std::int64_t channels = 0;
  };
  struct Activity {
    ActivitySpec spec;
    Tiles tiles;
    std::uint32_t share = 0;  // class of Sharing
    std::int64_t event = -1;  // its earliest pending Milestone
    std::int64_t moved = -1;
    bool gang = false;
    bool yield = false;
    bool rescheduled = false;
    bool alone = true;  // gang: no op has other activities, so CTAs leave with their channels
    OpId op = none;     // of a kernel
    std::vector<Member> members;
    std::vector<std::uint32_t> at_level;  // gang: members by resident channels
    std::int64_t level = 0;               // gang: channels resident on all
    std::vector<Start> starts;
    std::size_t next_start = 0;
  };
  struct Resident {
    ActivityId activity = 0;
    std::int64_t since = 0;
  };
  struct Device {
    Sms sms;
    std::uint32_t copy_engines_free = 0;
    std::vector<OpId> waiting{}, waiting_copies{};
    std::array<OpRun, 2> freed_by{};    // by Room: who left last in this instant
    std::vector<OpId> running{};        // kernels that could yield
    std::vector<Resident> residents{};  // what has rivals
    bool dirty = false;
    std::uint32_t copy_engines = 1;
    // Unhindered: of one SM, by threads, registers, shared memory and CTAs; of one engine.
    std::array<Sum, 4> sm_parts{}, sm_whole{};
    Sum copy_work = 0;
  };

  OpId new_op();
  ActivityId new_activity(const ActivitySpec& spec, std::span<const Use> uses, std::int64_t now);
  void queue(OpId id);
  void run_unhindered(OpId id, std::int64_t now);
  void count_room(const OpState& op);
  void count_uses(const ActivitySpec& spec, std::span<const Use> uses);
  void mark(std::uint32_t device);
  void changed(std::uint32_t device) {
    if (observes_) note_changed(device);
  }
  void note_changed(std::uint32_t device);
  void reschedule(ActivityId id);
  void admit(std::uint32_t device, std::int64_t now);
  void admit_copies(Device& device, std::int64_t now);
  void place(OpId id, std::int64_t ctas, std::int64_t now);
  void raise(ActivityId id, std::int64_t from, std::int64_t to, std::int64_t now);
  void set_yield(Device& device, std::int64_t now);
  void advance(ActivityId id, std::int64_t now);
  void pace_of(Activity& a, std::int64_t now);
  void schedule(ActivityId id, std::int64_t now);
  void retire(OpId id, std::int64_t ctas);
  void finish_activity(ActivityId id);
  void finish_op(OpId id);
  void appear(ActivityId id, std::uint32_t device, std::int64_t since);
  void disappear(ActivityId id, std::uint32_t device);
  void update_caps(std::uint32_t device);
  std::uint64_t cap_of(ActivityId id) const;

  bool unhindered_;
  std::vector<Sum> asked_;  // unhindered: by resource, parts of `whole`
  Sharing sharing_;
  EventQueue& events_;
  std::vector<Device> devices_;
  std::vector<OpState> ops_;
  std::vector<OpId> free_ops_;
  std::vector<Activity> activities_;
  std::vector<ActivityId> free_activities_;
  std::vector<ActivityId> of_share_;  // by class of Sharing
  std::vector<std::uint32_t> dirty_devices_, admitting_;
  bool observes_ = false;
  std::vector<char> observed_;  // by device: changed
  std::vector<std::uint32_t> changed_devices_;
  std::vector<ActivityId> rescheduled_;
  std::vector<OpId> finished_, late_;
  std::uint32_t rivals_ = 0;
  std::vector<Rivalry> rivalries_;
};

}  // namespace stave::simulator
