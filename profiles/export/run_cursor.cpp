#include "profiles/export/run_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/row_columns.h"
#include "profiles/store_file.h"

namespace stave {
namespace {

constexpr std::string_view slice_columns =
    "SELECT s.slice_id, s.start_ps, s.duration_ps, s.track_id, s.name_id, s.command_id, s.step, s.occurrence, s.lane, "
    "s.family, s.flags, k.slice_id, k.correlationId, k.graphId, k.graphNodeId, k.gridX, k.gridY, k.gridZ, k.blockX, "
    "k.blockY, k.blockZ, k.clusterX, k.clusterY, k.clusterZ, k.registersPerThread, k.staticSharedMemory, "
    "k.dynamicSharedMemory, k.demangledName, c.slice_id, c.is_memset, c.correlationId, c.graphNodeId, c.bytes, "
    "c.value, c.copyKind, c.srcKind, c.dstKind, c.srcDeviceId, c.dstDeviceId, a.slice_id, a.correlationId, "
    "a.returnValue, l.slice_id, l.communicator, l.sequence, l.op, l.dtype, l.count, l.bytes, l.ranks, "
    "l.arrival_wait_ps, l.transfer_ps, l.matched_by";
constexpr std::string_view slice_joins =
    " FROM STAVE_SLICE s LEFT JOIN STAVE_KERNEL k ON k.slice_id = s.slice_id "
    "LEFT JOIN STAVE_COPY c ON c.slice_id = s.slice_id LEFT JOIN STAVE_API a ON a.slice_id = s.slice_id "
    "LEFT JOIN STAVE_COLLECTIVE l ON l.slice_id = s.slice_id";

// What is known of a slice beside it: the columns from k.slice_id to l.matched_by.
void fill_details(RowColumns& c, std::size_t names, SliceRow& row) {
  const auto there = [&](int columns) {
    const bool is = !c.null();
    c.skip(is ? 1 : 1 + columns);
    return is;
  };
  if (there(kernel_detail_columns)) row.kernel = kernel_detail(c, row.id, names);
  if (there(copy_detail_columns)) row.copy = copy_detail(c, row.id);
  if (there(2)) row.call = ApiDetail{row.id, c.maybe_i64(), c.maybe_i64()};
  if (!there(10)) return;
  CollectiveDetail& detail = row.collective.emplace();
  detail.slice = row.id;
  detail.communicator = c.id<StringId>(1, names);
  detail.sequence = c.i64();
  detail.op = c.id<StringId>(1, names);
  detail.dtype = c.id<StringId>(1, names);
  detail.count = c.maybe_i64();
  detail.bytes = c.maybe_i64();
  detail.ranks = c.u32();
  detail.arrival_wait = c.maybe_time();
  detail.transfer = c.maybe_time();
  detail.matched_by = c.word(matched_by_named);
}

Failure damaged_row(const sqlite::Database& database, std::string_view table) {
  return error_at({.file = database.path()}, "STV0706", "damaged: {} holds a row with a value out of range", table);
}

}  // namespace

bool RowFilter::has_rank(std::uint32_t rank) const {
  return ranks.empty() || std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::optional<std::int64_t> SliceRow::correlation() const {
  if (kernel && kernel->correlation) return kernel->correlation;
  if (copy && copy->correlation) return copy->correlation;
  return call ? call->correlation : std::nullopt;
}

Result<RunCursor> RunCursor::open(const std::string& path, std::int64_t run, RowFilter filter) {
  TRY(sqlite::Database database, open_run_file(path, sqlite::Access::Read));
  RunCursor cursor(std::move(database), std::move(filter));
  TRY(cursor.rows_, find_rows(cursor.database_, run));
  TRY_VOID(read_head(cursor.rows_, cursor.head_));
  TRY_VOID(read_steps(cursor.rows_, cursor.head_));
  return cursor;
}

bool RunCursor::meant(const Slice& slice) const {
  return slice.start < filter_.window.end &&
         (slice.end() > filter_.window.start || slice.start >= filter_.window.start) &&
         filter_.has_rank(track(slice).rank);
}

std::string RunCursor::where_slices() const {
  const RowRange& range = rows_.range[store_schema::Slice];
  return fmt::format(" WHERE s.slice_id >= {} AND s.slice_id < {}", range.first, range.end);
}

Result<void> RunCursor::slices(Order order, bool args, Progress* progress,
                               const std::function<Result<void>(const SliceRow&)>& take) {
  std::string sql(slice_columns);
  if (args) sql += ", CASE WHEN json_valid(g.json) AND json_type(g.json) = 'object' THEN g.json END";
  sql += slice_joins;
  if (args) sql += " LEFT JOIN STAVE_ARGS g ON g.slice_id = s.slice_id";
  sql += where_slices();
  if (!filter_.all_times())
    sql += fmt::format(" AND s.start_ps < {} AND s.start_ps + s.duration_ps >= {}", filter_.window.end.count(),
                       filter_.window.start.count());
  sql += order == Order::Written ? " ORDER BY s.slice_id" : " ORDER BY s.track_id, s.start_ps, s.duration_ps DESC, 1";
  TRY(sqlite::Statement rows, database_.prepare(sql));
  const std::int64_t first_track = rows_.range[store_schema::Track].first;
  const std::int64_t first_command = rows_.range[store_schema::Command].first;
  const std::size_t names = head_.names().size();
  for (std::int64_t n = 1;; ++n) {
    TRY(const bool more, rows.step());
    if (!more) return {};
    if (n % 8192 == 0) {
      if (progress != nullptr) progress->done += 8192;
      TRY_VOID(still_wanted(progress));
    }
    RowColumns c(rows);
    SliceRow row;
    row.id = c.slice(rows_.range[store_schema::Slice]);
    Slice& slice = row.slice;
    slice.start = c.time();
    slice.duration = c.time();
    slice.track = c.id<TrackId>(first_track, head_.tracks().size());
    slice.name = c.id<StringId>(1, names);
    slice.command = c.id<TimelineCommandId>(first_command, head_.commands().size());
    slice.step = c.id<StepNumber>(0);
    slice.occurrence = c.u32();
    slice.lane = c.u16();
    slice.family = static_cast<Family>(c.u8());
    slice.flags = c.u8();
    if (!c.fits() || !slice.track || !slice.name || slice.duration.count() < 0 ||
        static_cast<std::uint8_t>(slice.family) >= family_count ||
        slice.start.count() > std::numeric_limits<std::int64_t>::max() - slice.duration.count())
      return damaged_row(database_, "STAVE_SLICE");
    if (!meant(slice)) continue;
    row.name = head_.text(slice.name);
    fill_details(c, names, row);
    if (!c.fits()) return damaged_row(database_, "a table of details");
    if (args) row.args = rows.text(52);
    TRY_VOID(take(row));
  }
}

Result<void> RunCursor::counters(const std::function<Result<void>(const CounterSample&)>& take) {
  const RowRange& range = rows_.range[store_schema::Counter];
  TRY(sqlite::Statement rows,
      database_.prepare("SELECT track_id, time_ps, value FROM STAVE_COUNTER WHERE sample_id >= ? AND sample_id < ? "
                        "AND time_ps >= ? AND time_ps < ? ORDER BY sample_id"));
  rows.start(range.first, range.end, filter_.window.start.count(), filter_.window.end.count());
  while (true) {
    TRY(const bool more, rows.step());
    if (!more) return {};
    RowColumns c(rows);
    CounterSample sample;
    sample.track = c.id<TrackId>(rows_.range[store_schema::Track].first, head_.tracks().size());
    if (!c.fits() || !sample.track) return damaged_row(database_, "STAVE_COUNTER");
    if (!filter_.has_rank(head_.track(sample.track).rank)) continue;
    sample.time = c.time();
    sample.value = rows.real(2);
    TRY_VOID(take(sample));
  }
}

Result<RunFlows> RunCursor::flows() {
  std::vector<bool> in;
  if (!filter_.all()) {
    TRY_VOID(slices(Order::Written, false, nullptr, [&](const SliceRow& row) -> Result<void> {
      if (in.size() <= row.id.value) in.resize(row.id.value + 1);
      in[row.id.value] = true;
      return {};
    }));
  }
  const auto meant = [&](SliceId id) { return filter_.all() || (id.value < in.size() && in[id.value]); };
  const RowRange& range = rows_.range[store_schema::Flow];
  TRY(sqlite::Statement rows, database_.prepare("SELECT from_slice, to_slice, kind, certainty FROM STAVE_FLOW "
                                                "WHERE flow_id >= ? AND flow_id < ? ORDER BY flow_id"));
  rows.start(range.first, range.end);
  const RowRange& slices_range = rows_.range[store_schema::Slice];
  std::vector<SliceFlow> flows;
  if (filter_.all()) {
    TRY(const std::int64_t count, flow_count());
    flows.reserve(static_cast<std::size_t>(count));
  }
  while (true) {
    TRY(const bool more, rows.step());
    if (!more) return RunFlows(std::move(flows));
    RowColumns c(rows);
    SliceFlow flow{c.slice(slices_range), c.slice(slices_range), static_cast<FlowKind>(c.u8()),
                   static_cast<Certainty>(c.u8())};
    if (!c.fits() || static_cast<std::uint8_t>(flow.kind) >= flow_kind_count ||
        static_cast<std::uint8_t>(flow.certainty) >= certainty_count)
      return damaged_row(database_, "STAVE_FLOW");
    if (meant(flow.from) && meant(flow.to)) flows.push_back(flow);
  }
}

Result<std::int64_t> RunCursor::flow_count() {
  const RowRange& range = rows_.range[store_schema::Flow];
  return database_.integer(
      fmt::format("SELECT count(*) FROM STAVE_FLOW WHERE flow_id >= {} AND flow_id < {}", range.first, range.end));
}

Result<std::int64_t> RunCursor::args_count() {
  const RowRange& range = rows_.range[store_schema::Slice];
  return database_.integer(
      fmt::format("SELECT count(*) FROM STAVE_ARGS WHERE slice_id >= {} AND slice_id < {}", range.first, range.end));
}

Result<RunCursor::Extent> RunCursor::extent() {
  Extent out{{Time::max(), Time::min()}, 0};
  if (filter_.all()) {
    TRY(sqlite::Statement row,
        database_.prepare("SELECT count(*), min(s.start_ps), max(s.start_ps + s.duration_ps) FROM STAVE_SLICE s" +
                          where_slices()));
    TRY(const bool any, row.step());
    if (any && row.integer(0) > 0) out = {{Time{row.integer(1)}, Time{row.integer(2)}}, row.integer(0)};
    return out;
  }
  TRY_VOID(slices(Order::Written, false, nullptr, [&](const SliceRow& row) -> Result<void> {
    out.span.start = std::min(out.span.start, row.slice.start);
    out.span.end = std::max(out.span.end, row.slice.end());
    ++out.slices;
    return {};
  }));
  return out;
}

Result<std::optional<TimeSpan>> RunCursor::range(std::string_view name) {
  TRY(sqlite::Statement row,
      database_.prepare("SELECT min(s.start_ps), max(s.start_ps + s.duration_ps) FROM STAVE_SLICE s "
                        "JOIN STAVE_TRACK t ON t.track_id = s.track_id JOIN STAVE_NAME n ON n.name_id = s.name_id" +
                        where_slices() + " AND t.kind = 'range' AND n.name = ?"));
  row.start(name);
  TRY(const bool any, row.step());
  if (!any || row.is_null(0)) return std::optional<TimeSpan>();
  return std::optional(TimeSpan{Time{row.integer(0)}, Time{row.integer(1)}});
}

Result<bool> RunCursor::has_correlations() {
  const RowRange& range = rows_.range[store_schema::Slice];
  for (const std::string_view table : {"STAVE_KERNEL", "STAVE_COPY", "STAVE_API"}) {
    TRY(const std::int64_t any,
        database_.integer(fmt::format("SELECT EXISTS(SELECT 1 FROM {} WHERE slice_id >= {} AND slice_id < {} AND "
                                      "correlationId IS NOT NULL)",
                                      table, range.first, range.end)));
    if (any != 0) return true;
  }
  return false;
}

}  // namespace stave
