// CUPTI's records as slices: what a command's kernels did is one slice on the
// track of the stream that the schedule puts the command on, also where a graph
// ran it on streams of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "executor/cuda/recorder_state.h"

namespace stave::cuda {

using States = std::span<const Recorder::State* const>;  // by process

// Where a plan's tracks and commands stand among the rows.
struct RowLayout {
  std::vector<std::uint32_t> first_track;      // by rank: its streams, then its host
  std::vector<std::uint32_t> first_command;    // by class
  std::vector<std::vector<StreamId>> streams;  // by class, then command
};

// A slice with what belongs to it. Times in nanoseconds of CUPTI's clock.
struct RecordedSlice {
  Slice slice;
  std::uint64_t start = 0, end = 0;
  Rank rank = 0;
  std::uint32_t command = whole_graph;   // none: a call, or the launch of a graph as a whole
  const DeviceRecord* record = nullptr;  // the longest of its records; null: a call
  const ApiRecord* api = nullptr;
  std::optional<std::uint32_t> call;      // that launched it: position among the calls
  const Recorder::State* from = nullptr;  // its names are this state's
};

struct RecordedSlices {
  std::vector<RecordedSlice> calls;
  std::vector<RecordedSlice> executions;  // of commands and graphs, by start
  std::uint64_t unknown = 0;              // records of graph nodes that belong to no command
};

std::string_view name_of_op(const Payload& payload);

// `names` holds the names of all ops and of all states.
RecordedSlices slices_of(States states, const Plan& plan, const RowLayout& layout, const Strings& names);

}  // namespace stave::cuda
