#include "executor/print/print_driver.h"

namespace stave {

namespace {

class PrintExecution : public Execution {
 public:
  explicit PrintExecution(const Plan& plan) : plan_(plan) {}

  Result<void> write(Rank, BufferId, std::span<const std::byte>) override { return {}; }
  Result<void> read(Rank, BufferId, std::span<std::byte>) override {
    return error_at({}, "STV0802", "the print driver runs nothing, so buffers have no contents");
  }
  Result<StepId> submit() override { return ++steps_; }
  Result<StepReport> wait(StepId, Deadline) override {
    StepReport report;
    for (const RankClass& c : plan_.classes) report.text += issue_text(c, plan_.mode);
    return report;
  }
  void abort() noexcept override {}

 private:
  const Plan& plan_;
  StepId steps_ = 0;
};

class PrintDriver : public Driver {
 public:
  DriverInfo info() const override {
    return {"print", "prints what the hosts would issue", 0, {Mode::Eager, Mode::Captured, Mode::CapturedSerial}, false,
            {}};
  }
  Result<std::unique_ptr<Execution>> prepare(const Plan& plan, const PrepareOptions&) override {
    return std::unique_ptr<Execution>(std::make_unique<PrintExecution>(plan));
  }
};

}  // namespace

std::unique_ptr<Driver> create_print_driver() { return std::make_unique<PrintDriver>(); }

}  // namespace stave
