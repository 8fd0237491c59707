#include "executor/cuda/cuda_driver.h"

#include "executor/cuda/prepared.h"

namespace stave::cuda {
namespace {

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(CudaOptions options) : options_(options) {}

  DriverInfo info() const override {
    DriverInfo info{"cuda",
                    "runs on NVIDIA GPUs: streams or one graph a rank, cuBLASLt, NVRTC, NCCL",
                    0,
                    {Mode::Eager, Mode::Captured, Mode::CapturedSerial},
                    true,
                    {{"kernel with tensor_map", "a schedule does not say the box of a tensor map"},
                     {"custom_call but cusolver_potrf", "no other handler is registered"},
                     {"several host lanes", "a lifted trace is not run"}}};
    if (options_.world) info.max_ranks = options_.world->processes();
    if (const Result<std::vector<Gpu>> all = gpus(); !all)
      info.unsupported.push_back({"all", all.problems()[0].message});
    return info;
  }

  Result<std::unique_ptr<Execution>> prepare(const Plan& plan, const PrepareOptions& options) override {
    TRY(std::unique_ptr<Prepared> prepared, cuda::prepare(plan, options, options_));
    return execution_of(std::move(prepared));
  }

 private:
  CudaOptions options_;
};

}  // namespace

std::unique_ptr<Driver> create_cuda_driver(const CudaOptions& options) { return std::make_unique<CudaDriver>(options); }

}  // namespace stave::cuda
