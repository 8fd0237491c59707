#include "profiles/schema.h"

namespace stave::store_schema {
namespace {

constexpr Table all_tables[] = {
    // kind: schedule, machine.
    {"STAVE_TEXT",
     "CREATE TABLE STAVE_TEXT(text_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE, "
     "text TEXT NOT NULL)"},
    {"STAVE_RUN",
     "CREATE TABLE STAVE_RUN(run_id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, kind TEXT NOT NULL "
     "CHECK(kind IN('measured','predicted','imported')), mode TEXT, schedule_id INTEGER, machine_id INTEGER, "
     "parent_run_id INTEGER, edit TEXT, base_unix_ns INTEGER, world_size INTEGER NOT NULL, tool TEXT NOT NULL, "
     "tool_version TEXT NOT NULL, options_json TEXT, complete INTEGER NOT NULL DEFAULT 0)"},
    {"STAVE_FIRST",
     "CREATE TABLE STAVE_FIRST(run_id INTEGER NOT NULL, table_name TEXT NOT NULL, first_id INTEGER NOT NULL, "
     "PRIMARY KEY(run_id, table_name)) WITHOUT ROWID"},
    {"STAVE_SOURCE",
     "CREATE TABLE STAVE_SOURCE(source_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, name TEXT NOT NULL, "
     "sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, format TEXT NOT NULL, format_version TEXT)"},
    {"STAVE_RANK",
     "CREATE TABLE STAVE_RANK(run_id INTEGER NOT NULL, rank INTEGER NOT NULL, rank_from TEXT NOT NULL, host TEXT, "
     "pid INTEGER, device INTEGER, gpu TEXT, gpu_uuid TEXT, source_id INTEGER, "
     "clock_offset_ps INTEGER NOT NULL DEFAULT 0, clock_error_ps INTEGER, clock_from TEXT, UNIQUE(run_id, rank))"},
    {"STAVE_STEP",
     "CREATE TABLE STAVE_STEP(run_id INTEGER NOT NULL, step INTEGER NOT NULL, rank INTEGER NOT NULL, "
     "phase TEXT NOT NULL CHECK(phase IN('warmup','timed')), label TEXT, start_ps INTEGER NOT NULL, "
     "end_ps INTEGER NOT NULL, sm_clock_hz INTEGER, power_mw INTEGER, temperature_mc INTEGER, "
     "UNIQUE(run_id, step, rank))"},
    {"STAVE_NAME", "CREATE TABLE STAVE_NAME(name_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)"},
    // What the small numbers of family, flow kind, certainty and flags mean.
    {"STAVE_ENUM",
     "CREATE TABLE STAVE_ENUM(enum TEXT NOT NULL, value INTEGER NOT NULL, name TEXT NOT NULL, "
     "PRIMARY KEY(enum, value)) WITHOUT ROWID"},
    // kind: stream, copy_engine, link, host, range, counter.
    {"STAVE_TRACK",
     "CREATE TABLE STAVE_TRACK(track_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, rank INTEGER NOT NULL, "
     "parent_id INTEGER, kind TEXT NOT NULL, name TEXT NOT NULL, device INTEGER, context INTEGER, stream INTEGER, "
     "thread INTEGER, peer_rank INTEGER, unit TEXT)"},
    // key is the path, the identity; command_id only joins inside this file.
    {"STAVE_COMMAND",
     "CREATE TABLE STAVE_COMMAND(command_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, parent_id INTEGER, "
     "key TEXT NOT NULL, op TEXT NOT NULL, family INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, "
     "flops INTEGER, bytes INTEGER)"},
    {"STAVE_SLICE",
     "CREATE TABLE STAVE_SLICE(slice_id INTEGER PRIMARY KEY, track_id INTEGER NOT NULL, start_ps INTEGER NOT NULL, "
     "duration_ps INTEGER NOT NULL, name_id INTEGER NOT NULL, family INTEGER NOT NULL, lane INTEGER NOT NULL, "
     "step INTEGER, command_id INTEGER, occurrence INTEGER NOT NULL, flags INTEGER NOT NULL)"},
    // In all the details NULL means: the source does not say. Column names as in Nsight Systems.
    {"STAVE_KERNEL",
     "CREATE TABLE STAVE_KERNEL(slice_id INTEGER PRIMARY KEY, correlationId INTEGER, graphId INTEGER, "
     "graphNodeId INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, "
     "blockZ INTEGER, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER, registersPerThread INTEGER, "
     "staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, demangledName INTEGER)"},
    {"STAVE_COPY",
     "CREATE TABLE STAVE_COPY(slice_id INTEGER PRIMARY KEY, is_memset INTEGER NOT NULL, correlationId INTEGER, "
     "graphNodeId INTEGER, bytes INTEGER, value INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, "
     "srcDeviceId INTEGER, dstDeviceId INTEGER)"},
    {"STAVE_API", "CREATE TABLE STAVE_API(slice_id INTEGER PRIMARY KEY, correlationId INTEGER, returnValue INTEGER)"},
    {"STAVE_ARGS", "CREATE TABLE STAVE_ARGS(slice_id INTEGER PRIMARY KEY, json TEXT NOT NULL)"},
    // The words are name ids; the view `collectives` spells them out. matched_by: ids, order, command.
    {"STAVE_COLLECTIVE",
     "CREATE TABLE STAVE_COLLECTIVE(slice_id INTEGER PRIMARY KEY, communicator INTEGER NOT NULL, "
     "sequence INTEGER NOT NULL, op INTEGER NOT NULL, dtype INTEGER, count INTEGER, bytes INTEGER, "
     "ranks INTEGER NOT NULL, arrival_wait_ps INTEGER, transfer_ps INTEGER, algorithm INTEGER, protocol INTEGER, "
     "channels INTEGER, matched_by TEXT NOT NULL)"},
    {"STAVE_FLOW",
     "CREATE TABLE STAVE_FLOW(flow_id INTEGER PRIMARY KEY, from_slice INTEGER NOT NULL, to_slice INTEGER NOT NULL, "
     "kind INTEGER NOT NULL, certainty INTEGER NOT NULL)"},
    {"STAVE_COST",
     "CREATE TABLE STAVE_COST(cost_id INTEGER PRIMARY KEY, slice_id INTEGER NOT NULL, part INTEGER NOT NULL, "
     "duration_ps INTEGER NOT NULL, low_ps INTEGER, high_ps INTEGER, model INTEGER NOT NULL, source INTEGER NOT NULL)"},
    {"STAVE_COUNTER",
     "CREATE TABLE STAVE_COUNTER(sample_id INTEGER PRIMARY KEY, track_id INTEGER NOT NULL, time_ps INTEGER NOT NULL, "
     "value REAL NOT NULL)"},
    {"STAVE_PROBLEM",
     "CREATE TABLE STAVE_PROBLEM(problem_id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL, code TEXT NOT NULL, "
     "severity TEXT NOT NULL, count INTEGER NOT NULL, message TEXT NOT NULL, file TEXT, line INTEGER, col INTEGER, "
     "byte INTEGER)"},
    // The slices again, one blob a column: widths 4 8 8 4 4 4 4 2 1 1. Complete once the run is.
    {"STAVE_SLICE_CHUNK",
     "CREATE TABLE STAVE_SLICE_CHUNK(first_slice INTEGER PRIMARY KEY, count INTEGER NOT NULL, "
     "min_start_ps INTEGER NOT NULL, max_end_ps INTEGER NOT NULL, track_id BLOB NOT NULL, start_ps BLOB NOT NULL, "
     "duration_ps BLOB NOT NULL, name_id BLOB NOT NULL, command_id BLOB NOT NULL, step BLOB NOT NULL, "
     "occurrence BLOB NOT NULL, lane BLOB NOT NULL, family BLOB NOT NULL, flags BLOB NOT NULL)"},
};

// Nsight's names show one run, so that its ids do not mix with another's: the
// first that is not predicted, else the first.
#define STAVE_ONE_RUN \
  "(SELECT coalesce(min(CASE WHEN kind <> 'predicted' THEN run_id END), min(run_id)) FROM STAVE_RUN)"
#define STAVE_TIMES "s.start_ps/1000 AS \"start\", (s.start_ps + s.duration_ps)/1000 AS \"end\", "
#define STAVE_DEVICE "t.device AS deviceId, t.context AS contextId, t.stream AS streamId, "
#define STAVE_FROM_RUN                                                                                               \
  "JOIN STAVE_TRACK t ON t.track_id = s.track_id LEFT JOIN STAVE_RANK q ON q.run_id = t.run_id AND q.rank = t.rank " \
  "WHERE t.run_id = " STAVE_ONE_RUN
// Nsight: 24 bits of process id above 24 bits of thread id.
#define STAVE_PID "(q.pid & 16777215) << 24"
#define STAVE_TID "(" STAVE_PID " | (t.thread & 16777215))"

constexpr const char* all_views[] = {
    "CREATE VIEW slices AS SELECT r.run_id, r.label AS run, r.kind AS run_kind, t.rank, t.kind AS track_kind, "
    "t.name AS track, t.device, t.stream, s.slice_id, s.track_id, s.start_ps, s.duration_ps, n.name, "
    "f.name AS family, s.lane, s.step, s.occurrence, s.flags, s.command_id, c.key AS command, c.op, "
    "s.start_ps/1e6 AS start_us, s.duration_ps/1e6 AS duration_us FROM STAVE_SLICE s "
    "JOIN STAVE_TRACK t ON t.track_id = s.track_id JOIN STAVE_RUN r ON r.run_id = t.run_id "
    "JOIN STAVE_NAME n ON n.name_id = s.name_id JOIN STAVE_ENUM f ON f.enum = 'family' AND f.value = s.family "
    "LEFT JOIN STAVE_COMMAND c ON c.command_id = s.command_id",

    "CREATE VIEW flows AS SELECT f.from_slice, f.to_slice, k.name AS kind, c.name AS certainty FROM STAVE_FLOW f "
    "JOIN STAVE_ENUM k ON k.enum = 'flow_kind' AND k.value = f.kind "
    "JOIN STAVE_ENUM c ON c.enum = 'certainty' AND c.value = f.certainty",

    "CREATE VIEW costs AS SELECT c.slice_id, p.name AS part, c.duration_ps, c.low_ps, c.high_ps, m.name AS model, "
    "s.name AS source FROM STAVE_COST c JOIN STAVE_NAME p ON p.name_id = c.part "
    "JOIN STAVE_NAME m ON m.name_id = c.model JOIN STAVE_NAME s ON s.name_id = c.source",

    "CREATE VIEW collectives AS SELECT c.slice_id, m.name AS communicator, c.sequence, o.name AS op, d.name AS dtype, "
    "c.count, c.bytes, c.ranks, c.arrival_wait_ps, c.transfer_ps, a.name AS algorithm, p.name AS protocol, "
    "c.channels, c.matched_by FROM STAVE_COLLECTIVE c JOIN STAVE_NAME m ON m.name_id = c.communicator "
    "JOIN STAVE_NAME o ON o.name_id = c.op LEFT JOIN STAVE_NAME d ON d.name_id = c.dtype "
    "LEFT JOIN STAVE_NAME a ON a.name_id = c.algorithm LEFT JOIN STAVE_NAME p ON p.name_id = c.protocol",

    "CREATE VIEW StringIds AS SELECT name_id AS id, name AS value FROM STAVE_NAME",

    "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT " STAVE_TIMES STAVE_DEVICE "k.correlationId, " STAVE_PID
    " AS globalPid, coalesce(k.demangledName, s.name_id) AS demangledName, s.name_id AS shortName, "
    "k.registersPerThread, k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.staticSharedMemory, "
    "k.dynamicSharedMemory, k.graphNodeId, k.graphId, k.clusterX, k.clusterY, k.clusterZ "
    "FROM STAVE_KERNEL k JOIN STAVE_SLICE s ON s.slice_id = k.slice_id " STAVE_FROM_RUN,

    "CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT " STAVE_TIMES STAVE_DEVICE "k.correlationId, " STAVE_PID
    " AS globalPid, k.bytes, k.copyKind, k.srcKind, k.dstKind, k.srcDeviceId, k.dstDeviceId, k.graphNodeId "
    "FROM STAVE_COPY k JOIN STAVE_SLICE s ON s.slice_id = k.slice_id " STAVE_FROM_RUN " AND k.is_memset = 0",

    "CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS SELECT " STAVE_TIMES STAVE_DEVICE "k.correlationId, " STAVE_PID
    " AS globalPid, k.value, k.bytes, k.graphNodeId, k.dstKind AS memKind "
    "FROM STAVE_COPY k JOIN STAVE_SLICE s ON s.slice_id = k.slice_id " STAVE_FROM_RUN " AND k.is_memset = 1",

    "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT " STAVE_TIMES "0 AS eventClass, " STAVE_TID
    " AS globalTid, k.correlationId, s.name_id AS nameId, k.returnValue, NULL AS callchainId "
    "FROM STAVE_API k JOIN STAVE_SLICE s ON s.slice_id = k.slice_id " STAVE_FROM_RUN,

    // eventType 59: a push/pop range.
    "CREATE VIEW NVTX_EVENTS AS SELECT " STAVE_TIMES
    "59 AS eventType, NULL AS rangeId, NULL AS category, "
    "NULL AS color, n.name AS text, " STAVE_TID
    " AS globalTid, NULL AS endGlobalTid, s.name_id AS textId, "
    "0 AS domainId FROM STAVE_SLICE s JOIN STAVE_NAME n ON n.name_id = s.name_id " STAVE_FROM_RUN
    " AND t.kind = 'range'",
};

}  // namespace

std::span<const Table> tables() { return all_tables; }
std::span<const char* const> views() { return all_views; }

}  // namespace stave::store_schema
