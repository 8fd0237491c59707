// Waits of an export, and which device work they waited for.
#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/nsys_rows.h"

namespace stave {
namespace {

constexpr std::int64_t all_streams = 4294967295;

}  // namespace

// syncType 1 event, 2 a stream waits for an event, 3 stream, 4 context.
Result<void> NsysRows::waits() {
  TRY_VOID(each("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"deviceId", "contextId", "streamId", "correlationId", "globalPid"},
                [&](const NsysRecord& row) {
                  const std::size_t at = position(file_.process(row.maybe_integer(4)));
                  recorded_on_[{at, row.integer(3)}] = {at, row.integer(0), row.integer(1), row.integer(2)};
                }));
  static constexpr std::string_view names[] = {"Synchronization", "Event Sync", "Stream Wait Event", "Stream Sync",
                                               "Context Sync"};
  return each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", device_columns({"syncType", "eventId", "eventSyncId"}),
              [&](const NsysRecord& row) {
                NsysProcess& process = file_.process(row.maybe_integer(2));
                const std::size_t at = position(process);
                Slice slice{.family = Family::Stream};
                if (!names_a_stream(row)) return count(problem_kinds::bad_row);
                const auto span = this->span(row, at, slice.flags);
                if (!span) return;
                slice.start = span->first;
                slice.duration = span->second;
                const std::int64_t type = row.integer(first_own), number = row.integer(5);
                slice.name = rows_.name(type > 0 && type < 5 ? names[type] : names[0]);
                slice.step = process.step_at(slice.start - shifts_[at]);
                StreamKey key{at, row.integer(3), row.integer(4), number};
                if (const auto* working = working_stream(key)) key = working->first;
                const std::int64_t device = std::get<1>(key);
                // The host waits, or the stream does nothing: no work of the stream.
                const auto [track, added] = wait_tracks_.try_emplace(key);
                const bool all = number < 0 || number == all_streams;
                if (added)
                  track->second = rows_.add(Track{.rank = ranks_[at],
                                                  .kind = TrackKind::Host,
                                                  .name = all ? fmt::format("GPU {} waits", device)
                                                              : fmt::format("GPU {} stream {} waits", device, number),
                                                  .device = device,
                                                  .stream = all ? std::nullopt : std::optional(number)});
                slice.track = track->second;
                rows_.add(slice);
                if (type == 2 || type == 3) waits_.push_back({at, key, row.integer(6), type == 2, slice.end()});
              });
}

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
  inferred(found.flows);
  std::vector<SliceFlow> waited;
  for (const HostWaits& waits : host_waits_) waits.flows(waited);
  inferred(waited);
  count_contradicted(found, file_.path(), problems_);
}

}  // namespace stave
