// The nodes of a Chakra execution trace as rows.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/progress.h"
#include "profiles/import/chakra_nodes.h"
#include "profiles/import/import_ranks.h"
#include "profiles/import/importer.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_tracks.h"

namespace stave {

struct ChakraProbe {
  std::string name{};     // of the file, without folders
  std::string display{};  // for messages
  std::string version{};
  std::int64_t nodes = 0;
  std::int64_t device_nodes = 0;
  std::int64_t timed = 0;  // nodes with a start
  WideTime start = 0;
};

// STV0950: cancelled.
Result<void> probe_chakra(ByteSource& text, ChakraProbe& probe, ImportRank& rank, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read);

class ChakraRows {
 public:
  ChakraRows(const ChakraProbe& probe, const ImportRank& rank, const ImportOptions& options, RowBatches& rows,
             ProblemCounts& problems, ImportReport& report);

  void take(const ChakraNode& node);
  void finish();

 private:
  struct Placed {
    SliceId slice{};
    TrackId track{};
    Time start{};
    Time end{};
    bool device = false;
  };

  void device_work(const ChakraNode& node, Slice& slice);
  void host_work(const ChakraNode& node, Slice& slice);
  void collective(const ChakraNode& node, SliceId id, const Slice& slice);
  void edge(const Placed& from, const Placed& to);
  void count(const ProblemKind& kind, const ChakraNode& node);

  const ChakraProbe& probe_;
  const ImportRank& rank_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;
  StreamTracks streams_{StreamLanes::any_order};  // by number
  std::map<std::int64_t, TrackId> threads_;
  std::unordered_map<std::uint64_t, Placed> nodes_;
  std::vector<std::pair<std::uint64_t, Placed>> later_;  // dependencies on nodes that had not come
  std::int64_t contradicted_ = 0;
};

}  // namespace stave
