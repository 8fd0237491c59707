// Which device work the waits of an export waited for.
#include <algorithm>

#include "profiles/import/nsys_rows.h"

namespace stave {

void NsysRows::edges() {
  std::vector<IssuedWait> waits;
  for (const RawWait& raw : waits_) {
    NsysProcess& process = file_.processes()[raw.process];
    const LaunchCall* call = process.launch(raw.correlation);
    const auto own = streams_.find(raw.stream);
    if (call == nullptr || own == streams_.end()) continue;
    const Time shift = shifts_[raw.process];
    IssuedWait wait{.recorded_on = own->second.track,
                    .recorded = call->start + shift,
                    .waiting = {},
                    .waited = call->start + shift,
                    .call = call->slice,
                    .call_end = raw.end};
    if (raw.stream_waits) {
      // The latest event that this thread recorded before it.
      const auto of = thread_of_call_.find({raw.process, raw.correlation});
      if (of == thread_of_call_.end()) continue;
      const Thread& thread = by_thread_[of->second];
      const auto before = [](const ThreadCall& one, Time time) { return one.start < time; };
      auto record = std::lower_bound(thread.records.begin(), thread.records.end(), call->start, before);
      if (record == thread.records.begin()) continue;
      --record;
      const auto said = recorded_on_.find({raw.process, record->correlation});
      StreamKey on;
      if (said != recorded_on_.end()) {
        on = said->second;
      } else {
        // The file does not say where: the stream that the thread used last.
        auto launch = std::lower_bound(thread.launches.begin(), thread.launches.end(), record->start, before);
        const StreamKey* used = nullptr;
        while (launch != thread.launches.begin() && used == nullptr) {
          --launch;
          const auto at = stream_of_launch_.find({raw.process, launch->correlation});
          if (at != stream_of_launch_.end()) used = &at->second;
        }
        if (used == nullptr) continue;
        on = *used;
        wait.certainty = Certainty::Possible;
      }
      const auto* recorded = working_stream(on);
      if (recorded == nullptr) continue;
      wait.recorded_on = recorded->second.track;
      wait.recorded = record->start + shift;
      wait.waiting = own->second.track;
    }
    waits.push_back(wait);
  }
  const EventFlows found = event_flows(issued_, waits);
  for (const SliceFlow& flow : found.flows) rows_.add(flow);
  report_.inferred_flows += static_cast<std::int64_t>(found.flows.size());
  if (found.contradicted > 0) problems_.count(problem_kinds::contradicted, {.file = file_.path()}, found.contradicted);
}

}  // namespace stave
