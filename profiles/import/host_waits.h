// Calls that return when the device is done, where no record says with what.
// A call cannot return earlier, and nothing else makes it wait: it waited for
// the work that ended last within it, of what was issued before it. "Within" allows
// for a skew of the two clocks (clock_skew.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/timeline/rows.h"

namespace stave {

enum class HostWait : std::uint8_t {
  None,
  Device,  // for all work: what ended last is it
  Some,    // for a stream or an event that is not known
  Copy,    // for the copy that it issues
};
// Of a call of CUDA's or HIP's runtime or driver. Only copies without Async wait.
HostWait host_wait(std::string_view call);
// Such a call does nothing else.
inline bool only_waits(HostWait wait) { return wait == HostWait::Device || wait == HostWait::Some; }

class HostWaits {
 public:
  // In any order; times of any clock until shift().
  void add(Time start, Time end, HostWait wait) { calls_.push_back({start, end, wait, {}, {}, {}}); }
  // After the last call: adds to its times, and sorts. `device_only`: records say what the others waited for.
  void settle(Picoseconds shift, bool device_only);
  bool empty() const { return calls_.empty(); }

  void set_slice(Time start, Time end, SliceId call);
  void offer(SliceId work, Time issued, Time start, Time end);
  void flows(std::vector<SliceFlow>& out) const;

 private:
  struct Call {
    Time start{};
    Time end{};
    HostWait wait = HostWait::None;
    SliceId slice{};
    SliceId last{};  // the work that ended last within it
    Time last_end{};
  };
  std::vector<Call> calls_;
};

// Calls that copy and the copies, until both are known.
class CopyWaits {
 public:
  // An edge if the copy ended within its call, and the call waits: its name says
  // so, or `pageable`, a copy to host memory that is not pinned.
  void call(std::int64_t key, SliceId slice, Time end, bool waits, std::vector<SliceFlow>& out);
  void copy(std::int64_t key, SliceId slice, Time start, Time end, bool pageable, std::vector<SliceFlow>& out);

 private:
  struct Pair {
    SliceId call{};
    Time call_end{};
    SliceId copy{};
    Time copy_start{};
    Time copy_end{};
    bool waits = false;
  };
  void join(std::int64_t key, std::vector<SliceFlow>& out);

  std::unordered_map<std::int64_t, Pair> pairs_;
};

}  // namespace stave
