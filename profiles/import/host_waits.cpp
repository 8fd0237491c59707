#include "profiles/import/host_waits.h"

#include <algorithm>

#include "profiles/import/clock_skew.h"

namespace stave {

HostWait host_wait(std::string_view call) {
  const auto has = [&](std::string_view part) { return call.find(part) != std::string_view::npos; };
  if (!call.starts_with("cu") && !call.starts_with("hip")) return HostWait::None;
  if (has("DeviceSynchronize") || has("CtxSynchronize")) return HostWait::Device;
  if (has("StreamSynchronize") || has("EventSynchronize")) return HostWait::Some;
  return has("Memcpy") && !has("Async") ? HostWait::Copy : HostWait::None;
}

void HostWaits::settle(Picoseconds shift, bool device_only) {
  if (device_only) std::erase_if(calls_, [](const Call& call) { return call.wait != HostWait::Device; });
  for (Call& call : calls_) {
    call.start += shift;
    call.end += shift;
  }
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.end != b.end ? a.end < b.end : a.start < b.start; });
}

void HostWaits::set_slice(Time start, Time end, SliceId slice) {
  auto at = std::lower_bound(calls_.begin(), calls_.end(), end, [](const Call& call, Time t) { return call.end < t; });
  for (; at != calls_.end() && at->end == end; ++at) {
    if (at->start != start || at->slice) continue;
    at->slice = slice;
    return;
  }
}

void HostWaits::offer(SliceId work, Time issued, Time start, Time end) {
  // The first call to return after the work's end; another thread's may wait for it as well, and longer.
  // Who waits for all of the device waited for what seems to end a skew later, too; of others that is not known.
  constexpr int most_threads = 8;
  auto at = std::lower_bound(calls_.begin(), calls_.end(), end - most_clock_skew,
                             [](const Call& call, Time t) { return call.end < t; });
  for (int after = 0; after < most_threads && at != calls_.end(); ++at) {
    if (at->end >= end) ++after;
    if (at->end < end && (at->wait != HostWait::Device || start >= at->end)) continue;
    if (at->start >= end || issued > at->start || (at->last && at->last_end >= end)) continue;
    at->last = work;
    at->last_end = end;
  }
}

void HostWaits::flows(std::vector<SliceFlow>& out) const {
  for (const Call& call : calls_)
    if (call.slice && call.last)
      out.push_back({call.last, call.slice, FlowKind::Host,
                     call.wait == HostWait::Device ? Certainty::Inferred : Certainty::Possible});
}

void CopyWaits::call(std::int64_t key, SliceId slice, Time end, bool waits, std::vector<SliceFlow>& out) {
  Pair& pair = pairs_[key];
  pair.call = slice;
  pair.call_end = end;
  pair.waits = pair.waits || waits;
  join(key, out);
}

void CopyWaits::copy(std::int64_t key, SliceId slice, Time start, Time end, bool pageable,
                     std::vector<SliceFlow>& out) {
  Pair& pair = pairs_[key];
  pair.copy = slice;
  pair.copy_start = start;
  pair.copy_end = end;
  pair.waits = pair.waits || pageable;
  join(key, out);
}

void CopyWaits::join(std::int64_t key, std::vector<SliceFlow>& out) {
  const Pair& pair = pairs_[key];
  if (!pair.call || !pair.copy) return;
  if (pair.waits && pair.copy_start < pair.call_end && pair.copy_end <= pair.call_end + most_clock_skew)
    out.push_back({pair.copy, pair.call, FlowKind::Host, Certainty::Inferred});
  pairs_.erase(key);
}

}  // namespace stave
