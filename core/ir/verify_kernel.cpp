// The rules of kernels and custom calls.
#include "core/ir/verify_state.h"

namespace stave {
namespace {

// CUDA's limits for compute capability 9.0 (CUDA C++ Programming Guide, table
// "Technical Specifications per Compute Capability").
constexpr std::int64_t max_block_threads = 1024;
constexpr std::int64_t max_block_z = 64;
constexpr std::int64_t max_grid_yz = 65535;
constexpr std::int64_t max_shared_bytes = std::int64_t{227} << 10;
// 8 is portable; 16 needs an opt-in that the drivers ask for.
constexpr std::int64_t max_cluster_blocks = 16;

std::string text(const Dim3& d) { return fmt::format("[{}, {}, {}]", d.x, d.y, d.z); }
std::int64_t volume(const Dim3& d) { return std::int64_t{d.x} * d.y * d.z; }
bool positive(const Dim3& d) { return d.x >= 1 && d.y >= 1 && d.z >= 1; }

void check_geometry(Verification& v, const Command& c, const Kernel& op) {
  if (!positive(op.grid) || op.grid.y > max_grid_yz || op.grid.z > max_grid_yz)
    v.problem(c, "STV0462", "a grid is at least 1 in each dimension and at most {} in y and z, got {}", max_grid_yz,
              text(op.grid));
  // y and z are bounded first, so that their product cannot overflow.
  if (!positive(op.block) || op.block.x > max_block_threads || op.block.y > max_block_threads ||
      op.block.z > max_block_z || volume(op.block) > max_block_threads)
    v.problem(c, "STV0463", "a block is at least 1 in each dimension, at most {} in z and {} threads in all, got {}",
              max_block_z, max_block_threads, text(op.block));
  if (!positive(op.cluster) || op.cluster.x > max_cluster_blocks || op.cluster.y > max_cluster_blocks ||
      op.cluster.z > max_cluster_blocks || volume(op.cluster) > max_cluster_blocks)
    v.problem(c, "STV0464", "a cluster has 1 to {} blocks, got {}", max_cluster_blocks, text(op.cluster));
  else if (op.grid.x % op.cluster.x != 0 || op.grid.y % op.cluster.y != 0 || op.grid.z % op.cluster.z != 0)
    v.problem(c, "STV0464", "a cluster divides the grid, got cluster {} and grid {}", text(op.cluster), text(op.grid));
  if (op.shared_memory < 0 || op.shared_memory > max_shared_bytes)
    v.problem(c, "STV0465", "shared_memory is 0 to {} bytes, got {}", max_shared_bytes, op.shared_memory);
}

}  // namespace

void check(Verification& v, const Command& c, const Kernel& op) {
  check_device(v, c);
  check_results_disjoint(v, c);
  check_sharing(v, c, Sharing::EqualOrDisjoint);
  check_geometry(v, c, op);
  bool found = false;
  std::string known;
  for (const SourceDecl& s : v.e.module->sources) {
    found = found || s.name == op.source.name;
    known += fmt::format("{}@{}", known.empty() ? "" : ", ", v.e.module->text(s.name));
  }
  if (!found)
    v.problem(c, "STV0460", "unknown source @{}; the schedule has {}", v.e.module->text(op.source.name),
              known.empty() ? "none" : known);
  if (v.e.module->text(op.entry).empty()) v.problem(c, "STV0461", "the entry of a kernel must not be empty");
  if (op.peer) v.problem(c, "STV0467", "`peer` is reserved: kernels cannot use the memory of other ranks yet");
  if (!op.args) return;
  for (const KernelArg& arg : v.e.args[op.args]) {
    if (arg.kind == KernelArg::Kind::Value) continue;
    const std::size_t operands = c.operands.size(), results = c.results.size();
    const std::size_t n = arg.kind == KernelArg::Kind::In    ? operands
                          : arg.kind == KernelArg::Kind::Out ? results
                                                             : operands + results;
    const std::string_view word = arg.kind == KernelArg::Kind::In    ? "in"
                                  : arg.kind == KernelArg::Kind::Out ? "out"
                                                                     : "tensor_map";
    if (arg.index >= n)
      v.problem(c, "STV0466", "argument `{} {}` names no view: the kernel has {} operand(s) and {} result(s)", word,
                arg.index, operands, results);
  }
}

void check(Verification& v, const Command& c, const CustomCall& op) {
  check_device(v, c);
  check_results_disjoint(v, c);
  check_sharing(v, c, Sharing::EqualOrDisjoint);
  if (v.e.module->text(op.target).empty()) v.problem(c, "STV0468", "the target of a custom_call must not be empty");
}

}  // namespace stave
