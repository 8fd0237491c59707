// The commands of the regions that are being expanded, innermost last. In pieces,
// because a vector that doubles would touch the memory of a million commands twice.
#pragma once

#include <memory>
#include <vector>

#include "core/ir/expanded.h"

namespace stave {

class PendingCommands {
 public:
  std::size_t size() const { return size_; }
  Command& operator[](std::size_t i) { return pieces_[i / piece][i % piece]; }
  void push(const Command& command) {
    if (size_ / piece == pieces_.size()) pieces_.push_back(std::make_unique<Command[]>(piece));
    (*this)[size_++] = command;
  }
  void truncate(std::size_t size) { size_ = size; }

 private:
  static constexpr std::size_t piece = 512;
  std::vector<std::unique_ptr<Command[]>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace stave
