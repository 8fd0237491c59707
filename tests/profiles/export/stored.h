// A timeline, stored and exported into a folder.
#pragma once

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "profiles/export/exporter.h"
#include "profiles/store_writer.h"
#include "tests/profiles/import/imported.h"
#include "tests/profiles/named_run.h"

namespace stave {

class Stored {
 public:
  explicit Stored(const Timeline& timeline, const RunInfo& info = named("run")) {
    const auto write = [&]() -> Result<void> {
      TRY(StoreWriter writer, StoreWriter::create(folder_ / "run.sqlite", info));
      TRY_VOID(replay(timeline, writer));
      return writer.close();
    };
    const Result<void> written = write();
    EXPECT_TRUE(written) << (written ? "" : written.problems()[0].message);
  }

  std::string operator/(const std::string& name) const { return folder_ / name; }

  // The bytes of NAME, written by the exporter that its name says.
  std::string exported(const std::string& name, RowFilter filter = {}) {
    const auto write = [&]() -> Result<std::string> {
      TRY(const Exporter* const exporter, find_exporter("", name));
      TRY(RunCursor cursor, RunCursor::open(folder_ / "run.sqlite", 1, std::move(filter)));
      TRY(report, exporter->write(cursor, {.title = "run"}, folder_ / name, nullptr));
      return read_file(folder_ / name);
    };
    Result<std::string> bytes = write();
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.problems()[0].message);
    return bytes ? *std::move(bytes) : "";
  }
  ImportedTimeline imported_back(const std::string& name) {
    exported(name);
    return import_files({folder_ / name});
  }

  ExportReport report;

 private:
  TempFolder folder_;
};

// A call, the kernel that it launches, a kernel that starts before that one ended, a
// copy, nested ranges, a counter; not in the order of time.
inline Timeline small_timeline() {
  Timeline out;
  out.add(RankInfo{.rank = 0, .rank_from = "test", .device = 0, .gpu = "GPU"});
  const TrackId stream = out.add(Track{.name = "stream 7", .device = 0, .context = 1, .stream = 7});
  const TrackId host = out.add(Track{.kind = TrackKind::Host, .name = "thread", .thread = 11});
  const TrackId ranges = out.add(Track{.kind = TrackKind::Range, .name = "ranges", .thread = 11});
  const TrackId counter = out.add(Track{.kind = TrackKind::Counter, .name = "memory", .unit = "bytes"});
  const auto slice = [&](TrackId track, std::int64_t start_ps, std::int64_t duration_ps, std::string_view name,
                         Family family) {
    return out.add(Slice{.start = Time{start_ps},
                         .duration = Picoseconds{duration_ps},
                         .track = track,
                         .name = out.intern(name),
                         .family = family});
  };
  const SliceId second = slice(stream, 60'000, 20'000, "second", Family::Compute);
  const SliceId first = slice(stream, 10'000, 57'000, "gemm<float>, \"quoted\"", Family::Gemm);
  const SliceId copy = slice(stream, 90'500, 1'000, "Memcpy HtoD", Family::Memory);
  const SliceId call = slice(host, 1'000, 2'000, "cudaLaunchKernel", Family::HostApi);
  slice(ranges, 0, 100'000, "outer", Family::Mark);
  slice(ranges, 5'000, 10'000, "inner", Family::Mark);
  out.add(ApiDetail{.slice = call, .correlation = 5, .return_value = 0});
  out.add(KernelDetail{.slice = first, .correlation = 5, .grid = LaunchDims{2, 3, 4}, .block = LaunchDims{32, 1, 1}});
  out.add(KernelDetail{.slice = second, .correlation = 6});
  out.add(CopyDetail{.slice = copy, .bytes = 4096, .copy_kind = 1});
  out.add(SliceFlow{call, first, FlowKind::Launch, Certainty::Recorded});
  out.add(SliceFlow{first, copy, FlowKind::Event, Certainty::Inferred});
  out.add(CounterSample{counter, Time{7'000}, 1024});
  return out;
}

// What must survive at nanoseconds.
struct DeviceWork {
  std::string name;
  std::int64_t stream = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  friend auto operator<=>(const DeviceWork&, const DeviceWork&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const DeviceWork& work) {
  return out << work.name << " on " << work.stream << " [" << work.start_ns << ", " << work.end_ns << ")";
}
inline std::vector<DeviceWork> device_work(const Timeline& timeline) {
  std::vector<DeviceWork> out;
  for (const Slice& slice : timeline.slices()) {
    const Track& track = timeline.track(slice.track);
    if (track.kind == TrackKind::Stream)
      out.push_back({std::string(timeline.text(slice.name)), track.stream.value_or(-1), floor_ns(slice.start),
                     floor_ns(slice.end())});
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace stave
