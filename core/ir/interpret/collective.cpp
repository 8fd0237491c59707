#include "core/ir/interpret/collective.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

#include "core/ir/interpret/interpret.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/reduction.h"

namespace stave {
namespace {

using Group = std::span<const Participant>;
using In = std::span<const std::byte>;
using Out = std::span<std::byte>;

Result<void> check_group(std::string_view op, Group group, std::size_t operands, std::size_t results) {
  if (group.empty()) return error_at({}, "STV0665", "{} of no ranks", op);
  for (const Participant& p : group) {
    if (p.operands.size() != operands || p.results.size() != results)
      return error_at({}, "STV0665", "{} takes {} operands and {} results a rank, rank {} has {} and {}", op, operands,
                      results, p.rank, p.operands.size(), p.results.size());
    TRY_VOID(check_sizes(p.operands, p.results));
  }
  return {};
}

Result<void> same_bytes(std::string_view op, Rank rank, std::size_t expected, std::size_t got) {
  if (expected == got) return {};
  return error_at({}, "STV0666", "{}: rank {} has a view of {} bytes where {} are needed", op, rank, got, expected);
}

Result<void> check_reducible(std::string_view op, Group group) {
  const Dtype dtype = group[0].operands[0].dtype;
  switch (dtype) {
    case Dtype::Bool:
    case Dtype::S4:
    case Dtype::U4:
    case Dtype::S16:
    case Dtype::U16:
      return error_at({}, "STV0667", "{} does not reduce {}: s8 u8 s32 u32 s64 u64, f8, f16 bf16 f32 f64", op,
                      name_of(dtype));
    default: break;
  }
  for (const Participant& p : group)
    if (p.operands[0].dtype != dtype || p.results[0].dtype != dtype)
      return error_at({}, "STV0667", "{}: rank {} has {} -> {}, rank {} has {}", op, p.rank,
                      name_of(p.operands[0].dtype), name_of(p.results[0].dtype), group[0].rank, name_of(dtype));
  return {};
}

// The operands of a group as they were before any result was written: what a result
// overlaps is copied first.
class Inputs {
 public:
  explicit Inputs(Group group) {
    std::vector<std::pair<const std::byte*, const std::byte*>> written;
    for (const Participant& p : group)
      for (const Operand& r : p.results)
        if (!r.bytes.empty()) written.push_back({r.bytes.data(), r.bytes.data() + r.bytes.size()});
    const std::less<> before;
    std::sort(written.begin(), written.end(), [&](auto& a, auto& b) { return before(a.first, b.first); });
    // Ends must ascend too, for the search below; a view within another one changes nothing.
    for (std::size_t i = 1; i < written.size(); ++i)
      if (before(written[i].second, written[i - 1].second)) written[i].second = written[i - 1].second;
    const auto is_written = [&](In in) {
      const auto at = std::upper_bound(written.begin(), written.end(), in.data(),
                                       [&](const std::byte* v, const auto& w) { return before(v, w.second); });
      return at != written.end() && before(at->first, in.data() + in.size());
    };
    for (const Participant& p : group) {
      std::vector<In>& mine = inputs_.emplace_back();
      for (const ConstOperand& operand : p.operands) {
        In in = operand.bytes;
        if (!in.empty() && is_written(in)) in = copies_.emplace_back(in.begin(), in.end());
        mine.push_back(in);
      }
    }
  }
  In operator()(std::size_t position, std::size_t operand = 0) const { return inputs_[position][operand]; }
  std::size_t size() const { return inputs_.size(); }

 private:
  std::vector<std::vector<In>> inputs_;
  std::vector<std::vector<std::byte>> copies_;  // growing moves the vectors, not their bytes
};

void write(Out to, In from) {
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
}

// Elements first .. first + count - 1 of all inputs into elements 0 .. of each `to`.
void reduce_elements(Reduction reduction, Dtype dtype, const Inputs& inputs, std::size_t first, std::size_t count,
                     std::span<const Out> to) {
  double sums[reduction_block], values[reduction_block];
  std::uint64_t wide[reduction_block], more[reduction_block];
  for (std::size_t done = 0; done < count; done += reduction_block) {
    const std::size_t n = std::min(reduction_block, count - done);
    if (is_float(dtype)) {
      load_doubles(inputs(0), dtype, first + done, n, sums);
      for (std::size_t p = 1; p < inputs.size(); ++p) {
        load_doubles(inputs(p), dtype, first + done, n, values);
        for (std::size_t i = 0; i < n; ++i) sums[i] = combined(reduction, sums[i], values[i]);
        if (dtype != Dtype::F64)
          for (std::size_t i = 0; i < n; ++i) sums[i] = static_cast<float>(sums[i]);
      }
      for (const Out& out : to) store_doubles(out, dtype, done, n, sums);
    } else {
      load_integers(inputs(0), dtype, first + done, n, wide);
      for (std::size_t p = 1; p < inputs.size(); ++p) {
        load_integers(inputs(p), dtype, first + done, n, more);
        for (std::size_t i = 0; i < n; ++i) wide[i] = combined(reduction, is_signed(dtype), wide[i], more[i]);
      }
      for (const Out& out : to) store_integers(out, dtype, done, n, dtype, wide);
    }
  }
}

}  // namespace

namespace collectives {

Result<void> all_reduce(Reduction reduction, Group group) {
  TRY_VOID(check_group("all_reduce", group, 1, 1));
  TRY_VOID(check_reducible("all_reduce", group));
  const std::size_t bytes = group[0].operands[0].bytes.size();
  std::vector<Out> to;
  for (const Participant& p : group) {
    TRY_VOID(same_bytes("all_reduce", p.rank, bytes, p.operands[0].bytes.size()));
    TRY_VOID(same_bytes("all_reduce", p.rank, bytes, p.results[0].bytes.size()));
    to.push_back(p.results[0].bytes);
  }
  const Dtype dtype = group[0].operands[0].dtype;
  reduce_elements(reduction, dtype, Inputs(group), 0, bytes / (bits_of(dtype) / 8), to);
  return {};
}

Result<void> reduce_scatter(Reduction reduction, Group group) {
  TRY_VOID(check_group("reduce_scatter", group, 1, 1));
  TRY_VOID(check_reducible("reduce_scatter", group));
  const std::size_t part = group[0].results[0].bytes.size();
  for (const Participant& p : group) {
    TRY_VOID(same_bytes("reduce_scatter", p.rank, part * group.size(), p.operands[0].bytes.size()));
    TRY_VOID(same_bytes("reduce_scatter", p.rank, part, p.results[0].bytes.size()));
  }
  const Dtype dtype = group[0].operands[0].dtype;
  const std::size_t count = part / (bits_of(dtype) / 8);
  const Inputs inputs(group);
  for (std::size_t p = 0; p < group.size(); ++p)
    reduce_elements(reduction, dtype, inputs, p * count, count, std::span(&group[p].results[0].bytes, 1));
  return {};
}

Result<void> all_gather(Group group) {
  TRY_VOID(check_group("all_gather", group, 1, 1));
  const std::size_t part = group[0].operands[0].bytes.size();
  for (const Participant& p : group) {
    TRY_VOID(same_bytes("all_gather", p.rank, part, p.operands[0].bytes.size()));
    TRY_VOID(same_bytes("all_gather", p.rank, part * group.size(), p.results[0].bytes.size()));
  }
  const Inputs inputs(group);
  for (const Participant& p : group)
    for (std::size_t q = 0; q < group.size(); ++q) write(p.results[0].bytes.subspan(q * part, part), inputs(q));
  return {};
}

Result<void> all_to_all(Group group) {
  const std::size_t n = group.size();
  const bool split = n != 0 && group[0].operands.size() == 1;
  TRY_VOID(check_group("all_to_all", group, split ? 1 : n, split ? 1 : n));
  const std::size_t whole = group[0].operands[0].bytes.size();
  if (split && whole % n != 0) return error_at({}, "STV0666", "all_to_all splits {} bytes in {} equal parts", whole, n);
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q < (split ? 1 : n); ++q) {
      const std::size_t needed = split ? whole : group[q].operands[p].bytes.size();
      if (split) TRY_VOID(same_bytes("all_to_all", group[p].rank, needed, group[p].operands[0].bytes.size()));
      TRY_VOID(same_bytes("all_to_all", group[p].rank, needed, group[p].results[q].bytes.size()));
    }
  const Inputs inputs(group);
  const std::size_t part = whole / n;
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q < n; ++q) {
      if (split) {
        write(group[p].results[0].bytes.subspan(q * part, part), inputs(q).subspan(p * part, part));
      } else {
        write(group[p].results[q].bytes, inputs(q, p));
      }
    }
  return {};
}

Result<void> permute(const Pairs& pairs, Group group) {
  TRY_VOID(check_group("collective_permute", group, 1, 1));
  const std::size_t bytes = group[0].operands[0].bytes.size();
  for (const Participant& p : group) {
    TRY_VOID(same_bytes("collective_permute", p.rank, bytes, p.operands[0].bytes.size()));
    TRY_VOID(same_bytes("collective_permute", p.rank, bytes, p.results[0].bytes.size()));
  }
  std::vector<std::size_t> source(group.size(), group.size());  // none
  for (const auto& [from, to] : pairs) {
    if (from >= group.size() || to >= group.size())
      return error_at({}, "STV0668", "pair {} -> {} in a group of {}", from, to, group.size());
    if (source[to] != group.size())
      return error_at({}, "STV0668", "position {} has two sources, {} and {}", to, source[to], from);
    source[to] = from;
  }
  const Inputs inputs(group);
  for (std::size_t p = 0; p < group.size(); ++p) {
    const Out to = group[p].results[0].bytes;
    if (source[p] != group.size()) {
      write(to, inputs(source[p]));
    } else {
      std::fill(to.begin(), to.end(), std::byte{0});
    }
  }
  return {};
}

Result<void> broadcast(std::int32_t root, Group group) {
  TRY_VOID(check_group("broadcast", group, 1, 1));
  if (root < 0 || static_cast<std::size_t>(root) >= group.size())
    return error_at({}, "STV0668", "root {} in a group of {}", root, group.size());
  const auto source = static_cast<std::size_t>(root);
  const std::size_t bytes = group[source].operands[0].bytes.size();
  for (const Participant& p : group) TRY_VOID(same_bytes("broadcast", p.rank, bytes, p.results[0].bytes.size()));
  const Inputs inputs(group);
  for (const Participant& p : group) write(p.results[0].bytes, inputs(source));
  return {};
}

Result<void> send_recv(const Participant& sender, const Participant& receiver) {
  if (sender.operands.size() != 1 || receiver.results.size() != 1)
    return error_at({}, "STV0665", "send takes 1 operand and recv 1 result, got {} and {}", sender.operands.size(),
                    receiver.results.size());
  const In from = sender.operands[0].bytes;
  const Out to = receiver.results[0].bytes;
  TRY_VOID(same_bytes("recv", receiver.rank, from.size(), to.size()));
  if (!to.empty()) std::memmove(to.data(), from.data(), to.size());
  return {};
}

}  // namespace collectives

namespace {

Result<void> run(const AllReduce& op, const Expanded&, Group group) {
  return collectives::all_reduce(op.reduction, group);
}
Result<void> run(const ReduceScatter& op, const Expanded&, Group group) {
  return collectives::reduce_scatter(op.reduction, group);
}
Result<void> run(const AllGather&, const Expanded&, Group group) { return collectives::all_gather(group); }
Result<void> run(const AllToAll&, const Expanded&, Group group) { return collectives::all_to_all(group); }
Result<void> run(const CollectivePermute& op, const Expanded& expanded, Group group) {
  return collectives::permute(expanded.pairs_of(op, group.size()), group);
}
Result<void> run(const Broadcast& op, const Expanded&, Group group) { return collectives::broadcast(op.root, group); }

Result<void> pair_of(Group group) {
  if (group.size() != 2) return error_at({}, "STV0665", "send and recv join 2 ranks, got {}", group.size());
  return collectives::send_recv(group[0], group[1]);
}
Result<void> run(const Send&, const Expanded&, Group group) { return pair_of(group); }
Result<void> run(const Recv&, const Expanded&, Group group) { return pair_of(group); }

template <class Op>
struct add_a_run_overload_to_core_ir_interpret_collective_cpp : std::false_type {};

}  // namespace

Result<void> interpret_collective(const Expanded& expanded, const Command& command,
                                  std::span<const Participant> group) {
  Result<void> result = std::visit(
      [&]<class Op>(const Op& op) -> Result<void> {
        if constexpr (!CollectiveOp<Op>) {
          return error_at({}, "STV0665", "`{}` is no collective of one group", Op::info.name);
        } else if constexpr (requires { run(op, expanded, group); }) {
          return run(op, expanded, group);
        } else {
          static_assert(add_a_run_overload_to_core_ir_interpret_collective_cpp<Op>::value);
        }
      },
      command.payload);
  return placed(std::move(result), expanded, command);
}

}  // namespace stave
