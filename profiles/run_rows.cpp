#include "profiles/run_rows.h"

#include <functional>
#include <limits>

#include "profiles/row_columns.h"
#include "profiles/slice_chunk.h"

namespace stave {
namespace {

using sqlite::Statement;

template <class Row>
using Take = Result<void> (TimelineSink::*)(std::span<const Row>);

// Runs `query` with the parameters and sends the rows that `make` makes.
template <class Row, class Make, class... Parameters>
Result<void> send_rows(const RunRows& rows, TimelineSink& sink, Take<Row> take, const char* table,
                       std::string_view query, Make make, const Parameters&... parameters) {
  TRY(Statement statement, rows.database->prepare(query));
  statement.start(parameters...);
  std::vector<Row> batch;
  const auto flush = [&]() -> Result<void> {
    Result<void> taken = (sink.*take)(batch);
    batch.clear();
    return taken;
  };
  while (true) {
    TRY(const bool found, statement.step());
    if (!found) break;
    RowColumns columns(statement);
    batch.push_back(make(columns));
    if (!columns.fits())
      return error_at({.file = rows.database->path()}, "STV0706", "damaged: {} holds a row with a value out of range",
                      table);
    if (batch.size() == max_batch_rows) TRY_VOID(flush());
  }
  if (batch.empty()) return {};
  return flush();
}

Result<void> read_names(const RunRows& rows, TimelineSink& sink) {
  TRY(Statement statement, rows.database->prepare("SELECT name_id, name FROM STAVE_NAME ORDER BY name_id"));
  std::vector<std::string> texts;
  std::int64_t expected = 1;
  const auto flush = [&]() -> Result<void> {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    Result<void> taken = sink.on_names(views);
    texts.clear();
    return taken;
  };
  while (true) {
    TRY(const bool found, statement.step());
    if (!found) break;
    // A name's position is its id; a gap would shift all that follow.
    if (statement.integer(0) != expected++)
      return error_at({.file = rows.database->path()}, "STV0706", "damaged: STAVE_NAME has no name {}", expected - 1);
    texts.emplace_back(statement.text(1));
    if (texts.size() == max_batch_rows) TRY_VOID(flush());
  }
  if (texts.empty()) return {};
  return flush();
}

std::optional<Severity> severity_named(std::string_view name) {
  for (const Severity severity : {Severity::Note, Severity::Warning, Severity::Error})
    if (name_of(severity) == name) return severity;
  return std::nullopt;
}

}  // namespace

Result<RunRows> find_rows(sqlite::Database& database, std::int64_t run) {
  RunRows rows{&database, run, {}};
  TRY(Statement find, database.prepare("SELECT first_id FROM STAVE_FIRST WHERE table_name = ? AND run_id >= ? "
                                       "ORDER BY run_id LIMIT 2"));
  for (std::size_t i = 0; i < rows.range.size(); ++i) {
    find.start(std::string_view(store_schema::numbered[i]), run);
    TRY(const bool first, find.step());
    if (!first)
      return error_at({.file = database.path()}, "STV0706", "damaged: STAVE_FIRST has no {} of run {}",
                      store_schema::numbered[i], run);
    rows.range[i].first = find.integer(0);
    TRY(const bool next, find.step());
    if (next) rows.range[i].end = find.integer(0);
    const auto [begin, end] = rows.range[i];
    if (begin < 1 || begin > std::numeric_limits<std::uint32_t>::max() || end < begin)
      return error_at({.file = database.path()}, "STV0706", "damaged: the {} of run {} start at {} and end before {}",
                      store_schema::numbered[i], run, begin, end);
  }
  return rows;
}

Result<void> read_head(const RunRows& rows, TimelineSink& sink) {
  const RowRange& source = rows.range[store_schema::Source];
  const RowRange& track = rows.range[store_schema::Track];
  const RowRange& command = rows.range[store_schema::Command];
  TRY_VOID(send_rows<SourceInfo>(
      rows, sink, &TimelineSink::on_sources, "STAVE_SOURCE",
      "SELECT name, sha256, bytes, format, format_version FROM STAVE_SOURCE WHERE source_id >= ? AND source_id < ? "
      "ORDER BY source_id",
      [](RowColumns& c) {
        return SourceInfo{c.text(), c.text(), c.i64(), c.text(), c.text()};
      },
      source.first, source.end));
  TRY_VOID(send_rows<RankInfo>(
      rows, sink, &TimelineSink::on_ranks, "STAVE_RANK",
      "SELECT rank, rank_from, host, pid, device, gpu, gpu_uuid, source_id, clock_offset_ps, clock_error_ps, "
      "clock_from FROM STAVE_RANK WHERE run_id = ? ORDER BY rowid",
      [&](RowColumns& c) {
        RankInfo rank{c.u32(), c.text(), c.text(), c.maybe_i64(), c.maybe_i64(), c.text(), c.text(), {}, {}, {}, {}};
        if (const auto id = c.maybe_i64()) rank.source = c.offset(*id, source.first);
        rank.clock_offset = c.time();
        rank.clock_error = c.maybe_time();
        rank.clock_from = c.text();
        return rank;
      },
      rows.run));
  TRY_VOID(read_names(rows, sink));
  TRY_VOID(send_rows<Track>(
      rows, sink, &TimelineSink::on_tracks, "STAVE_TRACK",
      "SELECT rank, kind, name, device, context, stream, thread, peer_rank, unit, parent_id FROM STAVE_TRACK "
      "WHERE track_id >= ? AND track_id < ? ORDER BY track_id",
      [&](RowColumns& c) {
        return Track{c.u32(),       c.word(track_kind_named),
                     c.text(),      c.maybe_i64(),
                     c.maybe_i64(), c.maybe_i64(),
                     c.maybe_i64(), c.maybe_u32(),
                     c.text(),      c.id<TrackId>(track.first)};
      },
      track.first, track.end));
  return send_rows<TimelineCommand>(
      rows, sink, &TimelineSink::on_commands, "STAVE_COMMAND",
      "SELECT key, op, family, line, col, flops, bytes, parent_id FROM STAVE_COMMAND "
      "WHERE command_id >= ? AND command_id < ? ORDER BY command_id",
      [&](RowColumns& c) {
        return TimelineCommand{c.text(),      c.text(),      static_cast<Family>(c.u8()),           c.u32(), c.u32(),
                               c.maybe_i64(), c.maybe_i64(), c.id<TimelineCommandId>(command.first)};
      },
      command.first, command.end);
}

Result<void> read_slices(const RunRows& rows, TimelineSink& sink) {
  const RowRange& slice = rows.range[store_schema::Slice];
  const std::int64_t first_track = rows.range[store_schema::Track].first;
  const std::int64_t first_command = rows.range[store_schema::Command].first;
  std::int64_t expected = slice.first;
  bool gap = false;
  TRY_VOID(send_rows<Slice>(
      rows, sink, &TimelineSink::on_slices, "STAVE_SLICE",
      "SELECT slice_id, start_ps, duration_ps, track_id, name_id, command_id, step, occurrence, lane, family, flags "
      "FROM STAVE_SLICE WHERE slice_id >= ? AND slice_id < ? ORDER BY slice_id",
      [&](RowColumns& c) {
        gap = (c.i64() != expected++) || gap;
        return Slice{c.time(),
                     c.time(),
                     c.id<TrackId>(first_track),
                     c.id<StringId>(),
                     c.id<TimelineCommandId>(first_command),
                     c.id<StepNumber>(0),
                     c.u32(),
                     c.u16(),
                     static_cast<Family>(c.u8()),
                     c.u8()};
      },
      slice.first, slice.end));
  if (gap) return error_at({.file = rows.database->path()}, "STV0706", "damaged: the slice ids have a gap");
  return {};
}

Result<void> read_slice_chunks(const RunRows& rows, TimelineSink& sink) {
  const RowRange& slice = rows.range[store_schema::Slice];
  const FileIds ids{static_cast<std::uint32_t>(rows.range[store_schema::Track].first),
                    static_cast<std::uint32_t>(rows.range[store_schema::Command].first)};
  TRY(Statement statement,
      rows.database->prepare("SELECT first_slice, count, track_id, start_ps, duration_ps, name_id, command_id, step, "
                             "occurrence, lane, family, flags FROM STAVE_SLICE_CHUNK "
                             "WHERE first_slice >= ? AND first_slice < ? ORDER BY first_slice"));
  statement.start(slice.first, slice.end);
  std::vector<Slice> slices;
  std::int64_t expected = slice.first;
  while (true) {
    TRY(const bool found, statement.step());
    if (!found) break;
    const std::int64_t count = statement.integer(1);
    std::array<sqlite::Blob, chunk_column_bytes.size()> columns;
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = statement.blob(static_cast<int>(i) + 2);
    if (statement.integer(0) != expected || count < 1 || count > static_cast<std::int64_t>(max_batch_rows) ||
        !decode_chunk(columns, static_cast<std::size_t>(count), ids, slices))
      return error_at({.file = rows.database->path()}, "STV0706",
                      "damaged: STAVE_SLICE_CHUNK {} of {} slices does not fit its columns or its place",
                      statement.integer(0), count);
    TRY_VOID(sink.on_slices(slices));
    expected += count;
  }
  return {};
}

Result<void> read_details(const RunRows& rows, TimelineSink& sink) {
  const RowRange& slice = rows.range[store_schema::Slice];
  const RowRange& cost = rows.range[store_schema::Cost];
  const auto of_slices = [](std::string_view columns, std::string_view table) {
    return fmt::format("SELECT slice_id, {} FROM {} WHERE slice_id >= ? AND slice_id < ? ORDER BY slice_id", columns,
                       table);
  };
  TRY_VOID(send_rows<KernelDetail>(
      rows, sink, &TimelineSink::on_kernels, "STAVE_KERNEL",
      of_slices("correlationId, graphId, graphNodeId, gridX, gridY, gridZ, blockX, blockY, blockZ, clusterX, clusterY, "
                "clusterZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, demangledName",
                "STAVE_KERNEL"),
      [&](RowColumns& c) {
        const SliceId id = c.slice(slice);
        return kernel_detail(c, id);
      },
      slice.first, slice.end));
  TRY_VOID(send_rows<CopyDetail>(
      rows, sink, &TimelineSink::on_copies, "STAVE_COPY",
      of_slices("is_memset, correlationId, graphNodeId, bytes, value, copyKind, srcKind, dstKind, srcDeviceId, "
                "dstDeviceId",
                "STAVE_COPY"),
      [&](RowColumns& c) {
        const SliceId id = c.slice(slice);
        return copy_detail(c, id);
      },
      slice.first, slice.end));
  TRY_VOID(send_rows<ApiDetail>(
      rows, sink, &TimelineSink::on_calls, "STAVE_API", of_slices("correlationId, returnValue", "STAVE_API"),
      [&](RowColumns& c) {
        return ApiDetail{c.slice(slice), c.maybe_i64(), c.maybe_i64()};
      },
      slice.first, slice.end));
  TRY_VOID(send_rows<CollectiveDetail>(
      rows, sink, &TimelineSink::on_collectives, "STAVE_COLLECTIVE",
      of_slices("communicator, sequence, op, dtype, count, bytes, ranks, arrival_wait_ps, transfer_ps, algorithm, "
                "protocol, channels, matched_by",
                "STAVE_COLLECTIVE"),
      [&](RowColumns& c) {
        return CollectiveDetail{c.slice(slice),   c.id<StringId>(),        c.i64(),          c.id<StringId>(),
                                c.id<StringId>(), c.maybe_i64(),           c.maybe_i64(),    c.u32(),
                                c.maybe_time(),   c.maybe_time(),          c.id<StringId>(), c.id<StringId>(),
                                c.maybe_u32(),    c.word(matched_by_named)};
      },
      slice.first, slice.end));
  return send_rows<CostPart>(
      rows, sink, &TimelineSink::on_costs, "STAVE_COST",
      "SELECT slice_id, part, duration_ps, low_ps, high_ps, model, source FROM STAVE_COST "
      "WHERE cost_id >= ? AND cost_id < ? ORDER BY cost_id",
      [&](RowColumns& c) {
        return CostPart{c.slice(slice), c.id<StringId>(), c.time(),        c.maybe_time(),
                        c.maybe_time(), c.id<StringId>(), c.id<StringId>()};
      },
      cost.first, cost.end);
}

Result<void> read_args(const RunRows& rows, TimelineSink& sink) {
  const RowRange& slice = rows.range[store_schema::Slice];
  return send_rows<ArgsDetail>(
      rows, sink, &TimelineSink::on_args, "STAVE_ARGS",
      "SELECT slice_id, json FROM STAVE_ARGS WHERE slice_id >= ? AND slice_id < ? ORDER BY slice_id",
      [&](RowColumns& c) {
        return ArgsDetail{c.slice(slice), c.text()};
      },
      slice.first, slice.end);
}

Result<void> read_steps(const RunRows& rows, TimelineSink& sink) {
  return send_rows<StepSpan>(
      rows, sink, &TimelineSink::on_steps, "STAVE_STEP",
      "SELECT step, rank, phase, label, start_ps, end_ps, sm_clock_hz, power_mw, temperature_mc FROM STAVE_STEP "
      "WHERE run_id = ? ORDER BY rowid",
      [](RowColumns& c) {
        return StepSpan{c.u32(),       c.u32(),       c.word(step_phase_named),
                        c.text(),      c.time(),      c.time(),
                        c.maybe_i64(), c.maybe_i64(), c.maybe_i64()};
      },
      rows.run);
}

Result<void> read_tail(const RunRows& rows, TimelineSink& sink) {
  const RowRange& track = rows.range[store_schema::Track];
  const RowRange& slice = rows.range[store_schema::Slice];
  const RowRange& flow = rows.range[store_schema::Flow];
  const RowRange& counter = rows.range[store_schema::Counter];
  TRY_VOID(send_rows<SliceFlow>(
      rows, sink, &TimelineSink::on_flows, "STAVE_FLOW",
      "SELECT from_slice, to_slice, kind, certainty FROM STAVE_FLOW WHERE flow_id >= ? AND flow_id < ? "
      "ORDER BY flow_id",
      [&](RowColumns& c) {
        return SliceFlow{c.slice(slice), c.slice(slice), static_cast<FlowKind>(c.u8()), static_cast<Certainty>(c.u8())};
      },
      flow.first, flow.end));
  TRY_VOID(send_rows<CounterSample>(
      rows, sink, &TimelineSink::on_counters, "STAVE_COUNTER",
      "SELECT track_id, time_ps, value FROM STAVE_COUNTER WHERE sample_id >= ? AND sample_id < ? ORDER BY sample_id",
      [&](RowColumns& c) {
        return CounterSample{c.id<TrackId>(track.first), c.time(), c.real()};
      },
      counter.first, counter.end));
  TRY_VOID(read_steps(rows, sink));
  return send_rows<TimelineProblem>(
      rows, sink, &TimelineSink::on_problems, "STAVE_PROBLEM",
      "SELECT severity, code, count, message, file, line, col, byte FROM STAVE_PROBLEM WHERE run_id = ? "
      "ORDER BY problem_id",
      [](RowColumns& c) {
        return TimelineProblem{c.word(severity_named), c.text(), c.i64(), c.text(), c.text(), c.u32(), c.u32(),
                               c.maybe_i64()};
      },
      rows.run);
}

}  // namespace stave
