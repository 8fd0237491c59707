#include "executor/gpu_protocol.h"

#include <algorithm>

namespace stave {
namespace {

void put(ByteWriter& w, const Place& p) {
  w.text(p.file);
  for (const std::uint32_t v : {p.line, p.column, p.end_line, p.end_column}) w.number(v);
}

Place place(ByteReader& r) {
  Place p;
  p.file = r.text();
  for (std::uint32_t* v : {&p.line, &p.column, &p.end_line, &p.end_column}) *v = static_cast<std::uint32_t>(r.number());
  return p;
}

// A length that the bytes left could hold at most is not known here: reading stops at the first value that is missing.
template <class Each>
void times(ByteReader& r, Each each) {
  const std::uint64_t n = r.number();
  for (std::uint64_t i = 0; i < n && r.fine(); ++i) each();
}

void put(ByteWriter& w, const std::vector<Picoseconds>& all) {
  w.number(all.size());
  for (const Picoseconds p : all) w.number(static_cast<std::uint64_t>(p.count()));
}

std::vector<Picoseconds> picoseconds(ByteReader& r) {
  std::vector<Picoseconds> all;
  times(r, [&] { all.emplace_back(static_cast<std::int64_t>(r.number())); });
  return all;
}

template <class T>
Result<T> whole(const ByteReader& r, T value) {
  if (!r.fine() || !r.at_end())
    return error_at({}, "STV0944", "the pipe to the GPU process: a message has another length than it says");
  return value;
}

}  // namespace

std::string encode(const GpuRequest& q) {
  ByteWriter w;
  w.text(q.file);
  w.text(q.text);
  w.number(q.params.size());
  for (const auto& [name, value] : q.params) {
    w.text(name);
    w.text(value);
  }
  w.number(static_cast<std::uint64_t>(q.mode));
  w.number(q.inputs.size());
  for (const std::string& input : q.inputs) w.text(input);
  for (const std::uint64_t v : {std::uint64_t{q.ranks_per_device}, std::uint64_t{q.warmup}, std::uint64_t{q.repeat},
                                static_cast<std::uint64_t>(q.timeout.count()),
                                static_cast<std::uint64_t>(q.duration.count()), static_cast<std::uint64_t>(q.profile),
                                std::uint64_t{q.flush_l2}, std::uint64_t{q.name_hangs}, std::uint64_t{q.outputs}})
    w.number(v);
  return w.bytes();
}

Result<GpuRequest> decode_request(std::string_view bytes) {
  ByteReader r(bytes);
  GpuRequest q;
  q.file = r.text();
  q.text = r.text();
  times(r, [&] {
    std::string name(r.text());
    q.params.emplace_back(std::move(name), r.text());
  });
  q.mode = static_cast<Mode>(r.number());
  times(r, [&] { q.inputs.emplace_back(r.text()); });
  q.ranks_per_device = static_cast<std::uint32_t>(r.number());
  q.warmup = static_cast<std::uint32_t>(r.number());
  q.repeat = static_cast<std::uint32_t>(r.number());
  q.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(r.number()));
  q.duration = std::chrono::milliseconds(static_cast<std::int64_t>(r.number()));
  q.profile = static_cast<Profile>(std::min<std::uint64_t>(r.number(), static_cast<std::uint64_t>(Profile::Graph)));
  q.flush_l2 = r.number() != 0;
  q.name_hangs = r.number() != 0;
  q.outputs = r.number() != 0;
  return whole(r, std::move(q));
}

std::string encode(const GpuBuffer& b) {
  ByteWriter w;
  w.number(b.rank);
  w.number(b.parameter);
  w.text(b.bytes);
  return w.bytes();
}

Result<GpuBuffer> decode_buffer(std::string_view bytes) {
  ByteReader r(bytes);
  GpuBuffer b;
  b.rank = static_cast<Rank>(r.number());
  b.parameter = static_cast<std::uint32_t>(r.number());
  b.bytes = r.text();
  return whole(r, std::move(b));
}

std::string encode(const GpuStep& s) {
  ByteWriter w;
  w.number(s.number);
  put(w, s.durations);
  put(w, s.issue);
  return w.bytes();
}

Result<GpuStep> decode_step(std::string_view bytes) {
  ByteReader r(bytes);
  GpuStep s;
  s.number = static_cast<std::uint32_t>(r.number());
  s.durations = picoseconds(r);
  s.issue = picoseconds(r);
  return whole(r, std::move(s));
}

std::string encode(const StepReport& report) {
  ByteWriter w;
  w.number(report.executed.size());
  for (const std::vector<std::int64_t>& counts : report.executed) {
    w.number(counts.size());
    for (const std::int64_t n : counts) w.number(static_cast<std::uint64_t>(n));
  }
  put(w, report.durations);
  put(w, report.issue);
  w.number(report.hang.has_value());
  if (!report.hang) return w.bytes();
  w.number(report.hang->blocked.size());
  for (const Blocked& b : report.hang->blocked) {
    w.number(b.rank);
    w.number(static_cast<std::uint64_t>(b.stream.kind));
    w.number(b.stream.number);
    w.text(b.last_done);
    w.text(b.first_pending);
    put(w, b.place);
    w.number(static_cast<std::uint64_t>(b.iteration));
    w.number(b.peer.has_value());
    w.number(b.peer.value_or(0));
    w.text(b.reason);
  }
  return w.bytes();
}

Result<StepReport> decode_report(std::string_view bytes) {
  ByteReader r(bytes);
  StepReport report;
  times(r, [&] {
    std::vector<std::int64_t>& counts = report.executed.emplace_back();
    times(r, [&] { counts.push_back(static_cast<std::int64_t>(r.number())); });
  });
  report.durations = picoseconds(r);
  report.issue = picoseconds(r);
  if (r.number() == 0) return whole(r, std::move(report));
  Hang& hang = report.hang.emplace();
  times(r, [&] {
    Blocked& b = hang.blocked.emplace_back();
    b.rank = static_cast<Rank>(r.number());
    b.stream.kind = static_cast<StreamRef::Kind>(r.number());
    b.stream.number = static_cast<std::uint32_t>(r.number());
    b.last_done = r.text();
    b.first_pending = r.text();
    b.place = place(r);
    b.iteration = static_cast<std::int64_t>(r.number());
    const bool peer = r.number() != 0;
    const auto number = static_cast<Rank>(r.number());
    if (peer) b.peer = number;
    b.reason = r.text();
  });
  return whole(r, std::move(report));
}

std::string encode(const Problems& problems) {
  ByteWriter w;
  w.number(problems.size());
  for (const Problem& p : problems) {
    w.number(static_cast<std::uint64_t>(p.severity));
    w.text(p.code);
    w.text(p.message);
    put(w, p.place);
    w.number(p.notes.size());
    for (const Note& note : p.notes) {
      w.text(note.message);
      put(w, note.place);
    }
  }
  return w.bytes();
}

Result<Problems> decode_problems(std::string_view bytes) {
  ByteReader r(bytes);
  Problems problems;
  times(r, [&] {
    Problem& p = problems.emplace_back();
    p.severity = static_cast<Severity>(r.number());
    p.code = r.text();
    p.message = r.text();
    p.place = place(r);
    times(r, [&] {
      Note& note = p.notes.emplace_back();
      note.message = r.text();
      note.place = place(r);
    });
  });
  return whole(r, std::move(problems));
}

}  // namespace stave
