#include "core/timeline/pipe.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <concepts>
#include <cstring>

namespace stave {
namespace {

class Encode {
 public:
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (one(fields), ...);
  }
  ByteWriter writer;

 private:
  template <std::integral T>
  void one(T v) {
    writer.number(static_cast<std::uint64_t>(v));
  }
  template <class E>
  requires std::is_enum_v<E>
  void one(E v) { writer.number(static_cast<std::uint64_t>(v)); }
  void one(double v) { writer.real(v); }
  void one(const std::string& v) { writer.text(v); }
  void one(Picoseconds v) { writer.number(static_cast<std::uint64_t>(v.count())); }
  template <class Tag>
  void one(Id<Tag> v) {
    writer.number(v.value);
  }
  void one(SliceId v) { writer.number(v.value); }
  void one(const LaunchDims& v) {
    for (const std::uint32_t d : v) writer.number(d);
  }
  template <class T>
  void one(const std::optional<T>& v) {
    writer.number(v.has_value());
    if (v) one(*v);
  }
};

class Decode {
 public:
  explicit Decode(std::string_view bytes) : reader(bytes) {}
  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }
  ByteReader reader;

 private:
  template <std::integral T>
  void one(T& v) {
    v = static_cast<T>(reader.number());
  }
  template <class E>
  requires std::is_enum_v<E>
  void one(E& v) { v = static_cast<E>(reader.number()); }
  void one(double& v) { v = reader.real(); }
  void one(std::string& v) { v = reader.text(); }
  void one(Picoseconds& v) { v = Picoseconds{static_cast<std::int64_t>(reader.number())}; }
  template <class Tag>
  void one(Id<Tag>& v) {
    v.value = static_cast<std::uint32_t>(reader.number());
  }
  void one(SliceId& v) { v.value = static_cast<std::uint32_t>(reader.number()); }
  void one(LaunchDims& v) {
    for (std::uint32_t& d : v) d = static_cast<std::uint32_t>(reader.number());
  }
  template <class T>
  void one(std::optional<T>& v) {
    if (reader.number() == 0) return;
    v.emplace();
    one(*v);
  }
};

// The fields of each row, for both directions.
template <class Row, class Coder>
void code_row(Row& r, Coder& c) {
  using T = std::remove_const_t<Row>;
  if constexpr (std::is_same_v<T, SourceInfo>) {
    c(r.name, r.sha256, r.bytes, r.format, r.format_version);
  } else if constexpr (std::is_same_v<T, RankInfo>) {
    c(r.rank, r.rank_from, r.host, r.pid, r.device, r.gpu, r.gpu_uuid, r.source, r.clock_offset, r.clock_error,
      r.clock_from);
  } else if constexpr (std::is_same_v<T, Track>) {
    c(r.rank, r.kind, r.name, r.device, r.context, r.stream, r.thread, r.peer_rank, r.unit, r.parent);
  } else if constexpr (std::is_same_v<T, TimelineCommand>) {
    c(r.key, r.op, r.family, r.line, r.column, r.flops, r.bytes, r.parent);
  } else if constexpr (std::is_same_v<T, Slice>) {
    c(r.start, r.duration, r.track, r.name, r.command, r.step, r.occurrence, r.lane, r.family, r.flags);
  } else if constexpr (std::is_same_v<T, SliceFlow>) {
    c(r.from, r.to, r.kind, r.certainty);
  } else if constexpr (std::is_same_v<T, KernelDetail>) {
    c(r.slice, r.correlation, r.graph, r.graph_node, r.grid, r.block, r.cluster, r.registers_per_thread,
      r.static_shared_bytes, r.dynamic_shared_bytes, r.demangled_name);
  } else if constexpr (std::is_same_v<T, CopyDetail>) {
    c(r.slice, r.memset, r.correlation, r.graph_node, r.bytes, r.memset_value, r.copy_kind, r.source_kind,
      r.destination_kind, r.source_device, r.destination_device);
  } else if constexpr (std::is_same_v<T, ApiDetail>) {
    c(r.slice, r.correlation, r.return_value);
  } else if constexpr (std::is_same_v<T, ArgsDetail>) {
    c(r.slice, r.json);
  } else if constexpr (std::is_same_v<T, CollectiveDetail>) {
    c(r.slice, r.communicator, r.sequence, r.op, r.dtype, r.count, r.bytes, r.ranks, r.arrival_wait, r.transfer,
      r.algorithm, r.protocol, r.channels, r.matched_by);
  } else if constexpr (std::is_same_v<T, CostPart>) {
    c(r.slice, r.part, r.duration, r.low, r.high, r.model, r.source);
  } else if constexpr (std::is_same_v<T, CounterSample>) {
    c(r.track, r.time, r.value);
  } else if constexpr (std::is_same_v<T, StepSpan>) {
    c(r.step, r.rank, r.phase, r.label, r.start, r.end, r.sm_clock_hz, r.power_mw, r.temperature_mc);
  } else {
    c(r.severity, r.code, r.count, r.message, r.file, r.line, r.column, r.byte);
  }
}

template <class Row>
Result<void> send_rows(std::span<const Row> batch, FrameKind kind, const PipeSink::Send& send) {
  Encode encode;
  encode.writer.number(batch.size());
  for (const Row& row : batch) code_row(row, encode);
  return send(kind, encode.writer.bytes());
}

Failure malformed(std::string_view what) { return error_at({}, "STV0944", "the pipe to the GPU process: {}", what); }

template <class Row>
Result<void> rows_of(std::string_view payload, TimelineSink& sink,
                     Result<void> (TimelineSink::*take)(std::span<const Row>)) {
  Decode decode(payload);
  const std::uint64_t count = decode.reader.number();
  if (count > max_batch_rows) return malformed("a batch is too long");
  std::vector<Row> rows(count);
  for (Row& row : rows) code_row(row, decode);
  if (!decode.reader.fine() || !decode.reader.at_end()) return malformed("a batch has another length than it says");
  return (sink.*take)(rows);
}

Result<void> names_of(std::string_view payload, TimelineSink& sink) {
  ByteReader reader(payload);
  const std::uint64_t count = reader.number();
  if (count > max_batch_rows) return malformed("a batch is too long");
  std::vector<std::string_view> names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(reader.text());
  if (!reader.fine() || !reader.at_end()) return malformed("a batch has another length than it says");
  return sink.on_names(names);
}

Result<void> write_all(int fd, const char* at, std::size_t left) {
  while (left > 0) {
    const ssize_t n = ::write(fd, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return malformed(std::strerror(errno));
    at += n;
    left -= static_cast<std::size_t>(n);
  }
  return {};
}

// How much of it there was.
Result<std::size_t> read_all(int fd, char* at, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd, at + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return malformed(std::strerror(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

std::uint64_t from_little_endian(const char* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

}  // namespace

void ByteWriter::number(std::uint64_t value) { bytes_ += little_endian(value, 8); }
void ByteWriter::real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
void ByteWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

std::uint64_t ByteReader::number() {
  if (left_.size() < 8) {
    fine_ = false;
    left_ = {};
    return 0;
  }
  const std::uint64_t value = from_little_endian(left_.data(), 8);
  left_.remove_prefix(8);
  return value;
}
double ByteReader::real() { return std::bit_cast<double>(number()); }
std::string_view ByteReader::text() {
  const std::uint64_t size = number();
  if (size > left_.size()) {
    fine_ = false;
    left_ = {};
    return {};
  }
  const std::string_view value = left_.substr(0, size);
  left_.remove_prefix(size);
  return value;
}

Result<void> write_frame(int fd, std::uint32_t kind, std::string_view payload) {
  const std::string head = little_endian(kind, 4) + little_endian(payload.size(), 8);
  TRY_VOID(write_all(fd, head.data(), head.size()));
  return write_all(fd, payload.data(), payload.size());
}

Result<std::optional<PipeFrame>> read_frame(int fd) {
  char head[12];
  TRY(const std::size_t got, read_all(fd, head, sizeof(head)));
  if (got == 0) return std::optional<PipeFrame>();
  if (got < sizeof(head)) return malformed("it ends in the middle of a frame");
  PipeFrame frame;
  frame.kind = static_cast<std::uint32_t>(from_little_endian(head, 4));
  const std::uint64_t size = from_little_endian(head + 4, 8);
  if (size > max_frame_bytes) return malformed("a frame is too long");
  // In pieces, so that a wrong length does not take memory that no bytes follow.
  constexpr std::size_t piece = std::size_t{64} << 20;
  while (frame.payload.size() < size) {
    const std::size_t before = frame.payload.size();
    const std::size_t wanted = std::min<std::size_t>(piece, size - before);
    frame.payload.resize(before + wanted);
    TRY(const std::size_t there, read_all(fd, frame.payload.data() + before, wanted));
    if (there < wanted) return malformed("it ends in the middle of a frame");
  }
  return std::optional(std::move(frame));
}

Result<void> PipeSink::on_sources(std::span<const SourceInfo> b) { return send_rows(b, FrameKind::Sources, send_); }
Result<void> PipeSink::on_ranks(std::span<const RankInfo> b) { return send_rows(b, FrameKind::Ranks, send_); }
Result<void> PipeSink::on_tracks(std::span<const Track> b) { return send_rows(b, FrameKind::Tracks, send_); }
Result<void> PipeSink::on_commands(std::span<const TimelineCommand> b) {
  return send_rows(b, FrameKind::Commands, send_);
}
Result<void> PipeSink::on_slices(std::span<const Slice> b) { return send_rows(b, FrameKind::Slices, send_); }
Result<void> PipeSink::on_flows(std::span<const SliceFlow> b) { return send_rows(b, FrameKind::Flows, send_); }
Result<void> PipeSink::on_kernels(std::span<const KernelDetail> b) { return send_rows(b, FrameKind::Kernels, send_); }
Result<void> PipeSink::on_copies(std::span<const CopyDetail> b) { return send_rows(b, FrameKind::Copies, send_); }
Result<void> PipeSink::on_calls(std::span<const ApiDetail> b) { return send_rows(b, FrameKind::Calls, send_); }
Result<void> PipeSink::on_args(std::span<const ArgsDetail> b) { return send_rows(b, FrameKind::Args, send_); }
Result<void> PipeSink::on_collectives(std::span<const CollectiveDetail> b) {
  return send_rows(b, FrameKind::Collectives, send_);
}
Result<void> PipeSink::on_costs(std::span<const CostPart> b) { return send_rows(b, FrameKind::Costs, send_); }
Result<void> PipeSink::on_counters(std::span<const CounterSample> b) {
  return send_rows(b, FrameKind::Counters, send_);
}
Result<void> PipeSink::on_steps(std::span<const StepSpan> b) { return send_rows(b, FrameKind::Steps, send_); }
Result<void> PipeSink::on_problems(std::span<const TimelineProblem> b) {
  return send_rows(b, FrameKind::Problems, send_);
}

Result<void> PipeSink::on_names(std::span<const std::string_view> batch) {
  ByteWriter writer;
  writer.number(batch.size());
  for (const std::string_view name : batch) writer.text(name);
  return send_(FrameKind::Names, writer.bytes());
}

Result<bool> take_rows(const PipeFrame& frame, TimelineSink& sink) {
  const std::string_view p = frame.payload;
  const auto taken = [&]() -> std::optional<Result<void>> {
    switch (static_cast<FrameKind>(frame.kind)) {
      case FrameKind::Sources: return rows_of<SourceInfo>(p, sink, &TimelineSink::on_sources);
      case FrameKind::Ranks: return rows_of<RankInfo>(p, sink, &TimelineSink::on_ranks);
      case FrameKind::Names: return names_of(p, sink);
      case FrameKind::Tracks: return rows_of<Track>(p, sink, &TimelineSink::on_tracks);
      case FrameKind::Commands: return rows_of<TimelineCommand>(p, sink, &TimelineSink::on_commands);
      case FrameKind::Slices: return rows_of<Slice>(p, sink, &TimelineSink::on_slices);
      case FrameKind::Flows: return rows_of<SliceFlow>(p, sink, &TimelineSink::on_flows);
      case FrameKind::Kernels: return rows_of<KernelDetail>(p, sink, &TimelineSink::on_kernels);
      case FrameKind::Copies: return rows_of<CopyDetail>(p, sink, &TimelineSink::on_copies);
      case FrameKind::Calls: return rows_of<ApiDetail>(p, sink, &TimelineSink::on_calls);
      case FrameKind::Args: return rows_of<ArgsDetail>(p, sink, &TimelineSink::on_args);
      case FrameKind::Collectives: return rows_of<CollectiveDetail>(p, sink, &TimelineSink::on_collectives);
      case FrameKind::Costs: return rows_of<CostPart>(p, sink, &TimelineSink::on_costs);
      case FrameKind::Counters: return rows_of<CounterSample>(p, sink, &TimelineSink::on_counters);
      case FrameKind::Steps: return rows_of<StepSpan>(p, sink, &TimelineSink::on_steps);
      case FrameKind::Problems: return rows_of<TimelineProblem>(p, sink, &TimelineSink::on_problems);
      default: return std::nullopt;
    }
  }();
  if (!taken) return false;
  if (!*taken) return Failure(taken->problems());
  return true;
}

}  // namespace stave
