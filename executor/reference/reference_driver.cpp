#include "executor/reference/reference_driver.h"

#include <unistd.h>

#include <cstring>

#include "core/ir/interpret/collective.h"
#include "core/ir/interpret/interpret.h"
#include "executor/reference/kernel_reference.h"
#include "executor/reference/memory.h"
#include "executor/reference/step.h"

namespace stave {

namespace {

class ReferenceExecution : public Execution {
 public:
  ReferenceExecution(const Plan& plan, const PrepareOptions& options, KernelReferences kernels)
      : plan_(plan), options_(options), kernels_(std::move(kernels)) {
    for (Rank rank = 0; rank < plan.ranks(); ++rank) memories_.emplace_back(expanded(rank));
  }

  Result<void> write(Rank rank, BufferId buffer, std::span<const std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    if (!bytes.empty()) std::memcpy(memories_[rank].buffer(buffer).data(), bytes.data(), bytes.size());
    return {};
  }

  Result<void> read(Rank rank, BufferId buffer, std::span<std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    if (!bytes.empty()) std::memcpy(bytes.data(), memories_[rank].buffer(buffer).data(), bytes.size());
    return {};
  }

  Result<StepId> submit() override {
    if (aborted_) return error_at({}, "STV0806", "this execution was aborted");
    for (Rank rank = 0; rank < plan_.ranks(); ++rank) memories_[rank].forget_scratch(expanded(rank));
    Step step(plan_, options_, effects());
    TRY(report_, step.run());
    aborted_ = !report_.finished();
    return ++steps_;
  }

  Result<StepReport> wait(StepId step, Deadline) override {
    if (step != steps_) return error_at({}, "STV0807", "step {} is not the last one, which is {}", step, steps_);
    return report_;
  }

  void abort() noexcept override { aborted_ = true; }

 private:
  const Expanded& expanded(Rank rank) const { return plan_.of_rank(rank).expanded; }

  Result<void> check(Rank rank, BufferId buffer, std::size_t bytes) const {
    if (rank >= plan_.ranks()) return error_at({}, "STV0801", "rank {} of a plan of {} ranks", rank, plan_.ranks());
    const std::size_t own = memories_[rank].buffer(buffer).size();
    if (own != bytes)
      return error_at({}, "STV0801", "buffer %{} of rank {} has {} bytes, got {}",
                      expanded(rank).module->text(expanded(rank).buffers[buffer].name), rank, own, bytes);
    return {};
  }

  StepEffects effects() {
    return {[this](Rank rank, CommandId id) { return run(rank, id); },
            [this](std::span<const Part> parts) { return run_together(parts); },
            [this](Rank rank, CommandId id) {
              return memories_[rank].predicate(expanded(rank), expanded(rank)[id], rank);
            }};
  }

  Result<void> run(Rank rank, CommandId id) {
    const Expanded& e = expanded(rank);
    const Command& command = e[id];
    const RunReference kernel = [&](const Command& c, std::span<const ConstOperand> in, std::span<const Operand> out) {
      return kernels_.run(e, rank, c, in, out, options_);
    };
    return interpret(e, command, memories_[rank].operands(e, command, rank), memories_[rank].results(e, command, rank),
                     kernel, options_.progress);
  }

  Result<void> run_together(std::span<const Part> parts) {
    std::vector<Participant> group;
    for (const Part& p : parts) {
      const Expanded& e = expanded(p.rank);
      Memory& memory = memories_[p.rank];
      group.push_back({p.rank, memory.operands(e, e[p.command], p.rank), memory.results(e, e[p.command], p.rank)});
    }
    const Expanded& e = expanded(parts[0].rank);
    return interpret_collective(e, e[parts[0].command], group);
  }

  const Plan& plan_;
  PrepareOptions options_;
  KernelReferences kernels_;
  std::vector<Memory> memories_;  // by rank
  StepReport report_;
  StepId steps_ = 0;
  bool aborted_ = false;
};

// All ranks' buffers are in this process: more than the machine has is refused
// in words instead of failing in the middle.
Result<void> fits_in_memory(const Plan& plan) {
  double needed = 0;
  for (Rank rank = 0; rank < plan.ranks(); ++rank)
    for (const Buffer& buffer : plan.of_rank(rank).expanded.buffers) needed += static_cast<double>(buffer.bytes);
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed <= 0.9 * there) return {};
  return error_at({.file = plan.classes[0].expanded.module->file}, "STV0808",
                  "the buffers of {} ranks take {:.1f} GiB and this machine has {:.1f} GiB; choose smaller params",
                  plan.ranks(), needed / (1 << 30), there / (1 << 30));
}

class ReferenceDriver : public Driver {
 public:
  DriverInfo info() const override {
    return {"reference",
            "runs all ranks on the CPU of this process, with exact semantics",
            0,
            {Mode::Eager, Mode::Captured, Mode::CapturedSerial},
            true,
            {{"kernel without reference", "its source is for a GPU; `reference = @f` gives its meaning on a CPU"}}};
  }

  Result<std::unique_ptr<Execution>> prepare(const Plan& plan, const PrepareOptions& options) override {
    TRY_VOID(fits_in_memory(plan));
    KernelReferences kernels;
    for (const RankClass& c : plan.classes) TRY_VOID(kernels.add(c.expanded));
    return std::unique_ptr<Execution>(std::make_unique<ReferenceExecution>(plan, options, std::move(kernels)));
  }
};

}  // namespace

std::unique_ptr<Driver> create_reference_driver() { return std::make_unique<ReferenceDriver>(); }

}  // namespace stave
