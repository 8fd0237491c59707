#include <algorithm>

#include "profiles/store_writer_state.h"

namespace stave {
namespace {

std::optional<std::int64_t> count_of(const std::optional<Picoseconds>& time) {
  return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}

std::optional<std::uint32_t> axis(const std::optional<LaunchDims>& dims, std::size_t i) {
  return dims ? std::optional<std::uint32_t>((*dims)[i]) : std::nullopt;
}

template <class AnyId>
std::optional<std::int64_t> id_or_null(AnyId id, std::int64_t first) {
  return id ? std::optional<std::int64_t>(first + id.value) : std::nullopt;
}

// Takes the next free number.
constexpr std::nullptr_t next_id = nullptr;

}  // namespace

// One batch is one transaction. After an error the file takes nothing more:
// its rows would name what is missing.
template <class Write>
Result<void> StoreWriter::batch(const Result<void>& checked, Write write) {
  State& state = *state_;
  TRY_VOID(state.open());
  Result<void> result = checked;
  if (result) {
    result = [&]() -> Result<void> {
      TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(*state.database));
      TRY_VOID(write());
      return transaction.commit();
    }();
  }
  state.failed = !result;
  return result;
}

template <class Row, class Values>
Result<void> StoreWriter::insert(std::span<const Row> rows, const Result<void>& checked, sqlite::BulkInsert& into,
                                 Values values) {
  return batch(checked, [&] { return into.run(*state_->database, rows, values); });
}

Result<void> StoreWriter::State::add_names(std::span<const std::string_view> names) {
  if (!insert->name) {
    TRY(insert->name, database->prepare("INSERT INTO STAVE_NAME VALUES(?, ?)"));
    TRY(insert->find_name, database->prepare("SELECT name_id FROM STAVE_NAME WHERE name = ?"));
  }
  for (const std::string_view name : names) {
    if (shared_names) {
      insert->find_name->start(name);
      TRY(const bool found, insert->find_name->step());
      const std::int64_t id = found ? insert->find_name->integer(0) : 0;
      insert->find_name->reset();
      if (found) {
        name_ids.push_back(static_cast<std::uint32_t>(id));
        continue;
      }
    }
    TRY_VOID(insert->name->run(next_name, name));
    name_ids.push_back(static_cast<std::uint32_t>(next_name++));
  }
  return {};
}

Result<void> StoreWriter::State::add_to_chunks(std::span<const Slice> slices) {
  for (const Slice& slice : slices) {
    pending.push_back(slice);
    pending.back().name = StringId{name_ids[slice.name.value]};
    if (pending.size() == max_batch_rows) TRY_VOID(flush_chunk());
  }
  return {};
}

Result<void> StoreWriter::State::flush_chunk() {
  if (pending.empty()) return {};
  const FileIds ids{static_cast<std::uint32_t>(first[store_schema::Track]),
                    static_cast<std::uint32_t>(first[store_schema::Command])};
  encode_chunk(pending, ids, columns);
  Time start = pending.front().start;
  Time end = pending.front().end();
  for (const Slice& slice : pending) {
    start = std::min(start, slice.start);
    end = std::max(end, slice.end());
  }
  const auto blob = [&](std::size_t i) { return sqlite::Blob(columns[i]); };
  TRY(sqlite::Statement chunk, database->prepare("INSERT INTO STAVE_SLICE_CHUNK VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  TRY_VOID(chunk.run(pending_first, pending.size(), start.count(), end.count(), blob(0), blob(1), blob(2), blob(3),
                     blob(4), blob(5), blob(6), blob(7), blob(8), blob(9)));
  pending_first += static_cast<std::int64_t>(pending.size());
  pending.clear();
  return {};
}

Result<void> StoreWriter::on_sources(std::span<const SourceInfo> rows) {
  State& s = *state_;
  return insert(rows, s.check.sources(rows), s.insert->source, [&](const SourceInfo& row) {
    return std::tuple(next_id, s.run, std::string_view(row.name), std::string_view(row.sha256), row.bytes,
                      std::string_view(row.format), text_or_null(row.format_version));
  });
}

Result<void> StoreWriter::on_ranks(std::span<const RankInfo> rows) {
  State& s = *state_;
  return insert(rows, s.check.ranks(rows), s.insert->rank, [&](const RankInfo& row) {
    std::optional<std::int64_t> source;
    if (row.source) source = s.first[store_schema::Source] + *row.source;
    return std::tuple(s.run, row.rank, std::string_view(row.rank_from), text_or_null(row.host), row.pid, row.device,
                      text_or_null(row.gpu), text_or_null(row.gpu_uuid), source, row.clock_offset.count(),
                      count_of(row.clock_error), text_or_null(row.clock_from));
  });
}

Result<void> StoreWriter::on_names(std::span<const std::string_view> rows) {
  State& s = *state_;
  return batch(s.check.names(rows), [&] { return s.add_names(rows); });
}

Result<void> StoreWriter::on_tracks(std::span<const Track> rows) {
  State& s = *state_;
  return insert(rows, s.check.tracks(rows), s.insert->track, [&](const Track& row) {
    return std::tuple(next_id, s.run, row.rank, id_or_null(row.parent, s.first[store_schema::Track]), name_of(row.kind),
                      std::string_view(row.name), row.device, row.context, row.stream, row.thread, row.peer_rank,
                      text_or_null(row.unit));
  });
}

Result<void> StoreWriter::on_commands(std::span<const TimelineCommand> rows) {
  State& s = *state_;
  return insert(rows, s.check.commands(rows), s.insert->command, [&](const TimelineCommand& row) {
    return std::tuple(next_id, s.run, id_or_null(row.parent, s.first[store_schema::Command]), std::string_view(row.key),
                      std::string_view(row.op), static_cast<int>(row.family), row.line, row.column, row.flops,
                      row.bytes);
  });
}

Result<void> StoreWriter::on_slices(std::span<const Slice> rows) {
  State& s = *state_;
  return batch(s.check.slices(rows), [&]() -> Result<void> {
    TRY_VOID(s.insert->slice.run(*s.database, rows, [&](const Slice& row) {
      return std::tuple(next_id, s.track_id(row.track), row.start.count(), row.duration.count(),
                        s.name_ids[row.name.value], static_cast<int>(row.family), row.lane, id_or_null(row.step, 0),
                        id_or_null(row.command, s.first[store_schema::Command]), row.occurrence, row.flags);
    }));
    return s.add_to_chunks(rows);
  });
}

Result<void> StoreWriter::on_flows(std::span<const SliceFlow> rows) {
  State& s = *state_;
  return insert(rows, s.check.flows(rows), s.insert->flow, [&](const SliceFlow& row) {
    return std::tuple(next_id, s.slice_id(row.from), s.slice_id(row.to), static_cast<int>(row.kind),
                      static_cast<int>(row.certainty));
  });
}

Result<void> StoreWriter::on_kernels(std::span<const KernelDetail> rows) {
  State& s = *state_;
  return insert(rows, s.check.kernels(rows), s.insert->kernel, [&](const KernelDetail& row) {
    return std::tuple(s.slice_id(row.slice), row.correlation, row.graph, row.graph_node, axis(row.grid, 0),
                      axis(row.grid, 1), axis(row.grid, 2), axis(row.block, 0), axis(row.block, 1), axis(row.block, 2),
                      axis(row.cluster, 0), axis(row.cluster, 1), axis(row.cluster, 2), row.registers_per_thread,
                      row.static_shared_bytes, row.dynamic_shared_bytes, s.name_id(row.demangled_name));
  });
}

Result<void> StoreWriter::on_copies(std::span<const CopyDetail> rows) {
  State& s = *state_;
  return insert(rows, s.check.copies(rows), s.insert->copy, [&](const CopyDetail& row) {
    return std::tuple(s.slice_id(row.slice), row.memset, row.correlation, row.graph_node, row.bytes, row.memset_value,
                      row.copy_kind, row.source_kind, row.destination_kind, row.source_device, row.destination_device);
  });
}

Result<void> StoreWriter::on_calls(std::span<const ApiDetail> rows) {
  State& s = *state_;
  return insert(rows, s.check.calls(rows), s.insert->call, [&](const ApiDetail& row) {
    return std::tuple(s.slice_id(row.slice), row.correlation, row.return_value);
  });
}

Result<void> StoreWriter::on_args(std::span<const ArgsDetail> rows) {
  State& s = *state_;
  return insert(rows, s.check.args(rows), s.insert->args,
                [&](const ArgsDetail& row) { return std::tuple(s.slice_id(row.slice), std::string_view(row.json)); });
}

Result<void> StoreWriter::on_collectives(std::span<const CollectiveDetail> rows) {
  State& s = *state_;
  return insert(rows, s.check.collectives(rows), s.insert->collective, [&](const CollectiveDetail& row) {
    return std::tuple(s.slice_id(row.slice), s.name_id(row.communicator), row.sequence, s.name_id(row.op),
                      s.name_id(row.dtype), row.count, row.bytes, row.ranks, count_of(row.arrival_wait),
                      count_of(row.transfer), s.name_id(row.algorithm), s.name_id(row.protocol), row.channels,
                      name_of(row.matched_by));
  });
}

Result<void> StoreWriter::on_costs(std::span<const CostPart> rows) {
  State& s = *state_;
  return insert(rows, s.check.costs(rows), s.insert->cost, [&](const CostPart& row) {
    return std::tuple(next_id, s.slice_id(row.slice), s.name_id(row.part), row.duration.count(), count_of(row.low),
                      count_of(row.high), s.name_id(row.model), s.name_id(row.source));
  });
}

Result<void> StoreWriter::on_counters(std::span<const CounterSample> rows) {
  State& s = *state_;
  return insert(rows, s.check.counters(rows), s.insert->counter, [&](const CounterSample& row) {
    return std::tuple(next_id, s.track_id(row.track), row.time.count(), row.value);
  });
}

Result<void> StoreWriter::on_steps(std::span<const StepSpan> rows) {
  State& s = *state_;
  return insert(rows, s.check.steps(rows), s.insert->step, [&](const StepSpan& row) {
    return std::tuple(s.run, row.step, row.rank, name_of(row.phase), text_or_null(row.label), row.start.count(),
                      row.end.count(), row.sm_clock_hz, row.power_mw, row.temperature_mc);
  });
}

Result<void> StoreWriter::on_problems(std::span<const TimelineProblem> rows) {
  State& s = *state_;
  return insert(rows, s.check.problems(rows), s.insert->problem, [&](const TimelineProblem& row) {
    return std::tuple(next_id, s.run, std::string_view(row.code), name_of(row.severity), row.count,
                      std::string_view(row.message), text_or_null(row.file), row.line, row.column, row.byte);
  });
}

}  // namespace stave
