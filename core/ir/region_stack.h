// Where statements wait until their region closes. A module keeps the ops of a
// region, and the regions of an op, next to each other; what is nested closes
// first and so stands before. The parser and the builder both write through this.
#pragma once

#include <cassert>
#include <vector>

#include "core/ir/module.h"

namespace stave {

class RegionStack {
 public:
  void open() { marks_.push_back(ops_.size()); }
  // A complete statement of the innermost open region.
  void add(const Op& op) {
    assert(!marks_.empty());
    ops_.push_back(op);
  }
  // Statements of the innermost open region so far.
  std::size_t size() const { return marks_.empty() ? ops_.size() : ops_.size() - marks_.back(); }
  std::size_t depth() const { return marks_.size(); }

  // Closes the innermost region and stores its ops; the caller fills in the rest
  // and either stores the region (a function's body) or keeps it for its op.
  Region close(Module& module) {
    assert(!marks_.empty());
    Region region;
    region.ops.first = static_cast<std::uint32_t>(module.ops.size());
    region.ops.count = static_cast<std::uint32_t>(ops_.size() - marks_.back());
    for (std::size_t i = marks_.back(); i < ops_.size(); ++i) module.ops.add(ops_[i]);
    ops_.resize(marks_.back());
    marks_.pop_back();
    return region;
  }

  // A closed region of the statement that is being made.
  void keep(const Region& region) { regions_.push_back(region); }
  std::size_t kept() const { return regions_.size(); }
  const Region& kept(std::size_t i) const { return regions_[i]; }
  // Stores the regions kept since `first`, a value of kept() from before.
  IdRange<Region> take_kept(Module& module, std::size_t first) {
    const std::size_t start = module.regions.size();
    for (std::size_t i = first; i < regions_.size(); ++i) module.regions.add(regions_[i]);
    regions_.resize(first);
    return module.regions.range_from(start);
  }

 private:
  std::vector<Op> ops_;
  std::vector<Region> regions_;
  std::vector<std::size_t> marks_;  // where each open region begins in ops_
};

}  // namespace stave
