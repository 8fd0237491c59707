// Runs `nsys export` on reports that only Nsight Systems itself can read.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace stave {

// The databases that were made; they go away with their owner.
class NsysExports {
 public:
  NsysExports() = default;
  NsysExports(const NsysExports&) = delete;
  NsysExports& operator=(const NsysExports&) = delete;
  ~NsysExports();

  // In the place of each .nsys-rep file its export. The program gets its
  // arguments as they are, without a shell. STV0735: there is no nsys, or it failed.
  Result<void> replace_reports(std::vector<std::string>& files, Progress* progress);

 private:
  std::string folder_;
};

}  // namespace stave
