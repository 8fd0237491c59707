#include "profiles/import/host_waits.h"

#include <algorithm>

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

void HostWaits::offer(SliceId work, Time issued, Time end) {
  // The first call to return after the work's end; another thread's may wait for it as well, and longer.
  constexpr int most_threads = 8;
  auto at = std::lower_bound(calls_.begin(), calls_.end(), end, [](const Call& call, Time t) { return call.end < t; });
  for (int i = 0; i < most_threads && at != calls_.end(); ++i, ++at) {
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

void CopyWaits::copy(std::int64_t key, SliceId slice, Time end, bool pageable, std::vector<SliceFlow>& out) {
  Pair& pair = pairs_[key];
  pair.copy = slice;
  pair.copy_end = end;
  pair.waits = pair.waits || pageable;
  join(key, out);
}

void CopyWaits::join(std::int64_t key, std::vector<SliceFlow>& out) {
  const Pair& pair = pairs_[key];
  if (!pair.call || !pair.copy) return;
  if (pair.waits && pair.copy_end <= pair.call_end)
    out.push_back({pair.copy, pair.call, FlowKind::Host, Certainty::Inferred});
  pairs_.erase(key);
}

}  // namespace stave
