// Writes a timeline into a run file (SQLite, docs/store.md) while it arrives.
//
// The file grows as NAME.partial and gets its name in close(), so that NAME is
// always whole. Each on_... call is one transaction: what it returned success
// for survives the end of this process, and a reader of NAME.partial finds it.
// Equal input gives equal bytes.
//
// Codes besides those of profiles/sqlite.h: STV0701 disk full or not writable,
// STV0707 a batch breaks a rule of TimelineSink, STV0708 the label is taken,
// STV0709 no such parent run, STV0710 used after an error or close(),
// STV0711 another writer took NAME.partial.
#pragma once

#include <memory>
#include <string>

#include "core/timeline/run_info.h"
#include "core/timeline/sink.h"

namespace stave {

namespace sqlite {
class BulkInsert;
}

enum class IfExists {
  Replace,  // NAME, if it exists, is replaced by a file with this run alone
  Append,   // the run is added to NAME's; NAME must be a complete run file then
};

class StoreWriter final : public TimelineSink {
 public:
  static Result<StoreWriter> create(const std::string& path, const RunInfo& run,
                                    IfExists if_exists = IfExists::Replace);
  StoreWriter(StoreWriter&&) noexcept;
  StoreWriter& operator=(StoreWriter&&) noexcept;
  // Without close() NAME.partial stays, as after a kill.
  ~StoreWriter() override;

  std::int64_t run_id() const;
  // Marks the run complete, flushes to the disk, renames.
  Result<void> close();
  // Gives up: removes NAME.partial.
  void discard();

  Result<void> on_sources(std::span<const SourceInfo> batch) override;
  Result<void> on_ranks(std::span<const RankInfo> batch) override;
  Result<void> on_names(std::span<const std::string_view> batch) override;
  Result<void> on_tracks(std::span<const Track> batch) override;
  Result<void> on_commands(std::span<const TimelineCommand> batch) override;
  Result<void> on_slices(std::span<const Slice> batch) override;
  Result<void> on_flows(std::span<const SliceFlow> batch) override;
  Result<void> on_kernels(std::span<const KernelDetail> batch) override;
  Result<void> on_copies(std::span<const CopyDetail> batch) override;
  Result<void> on_calls(std::span<const ApiDetail> batch) override;
  Result<void> on_args(std::span<const ArgsDetail> batch) override;
  Result<void> on_collectives(std::span<const CollectiveDetail> batch) override;
  Result<void> on_costs(std::span<const CostPart> batch) override;
  Result<void> on_counters(std::span<const CounterSample> batch) override;
  Result<void> on_steps(std::span<const StepSpan> batch) override;
  Result<void> on_problems(std::span<const TimelineProblem> batch) override;

 private:
  struct State;
  explicit StoreWriter(std::unique_ptr<State> state);
  static Result<StoreWriter> start(const std::string& path, const RunInfo& run, IfExists if_exists);
  template <class Write>
  Result<void> batch(const Result<void>& checked, Write write);
  template <class Row, class Values>
  Result<void> insert(std::span<const Row> rows, const Result<void>& checked, sqlite::BulkInsert& into, Values values);

  std::unique_ptr<State> state_;
};

}  // namespace stave
