// The rules of the IR, as the reference prints them. They are normative: every
// machine, driver and check keeps them.
#pragma once

#include <string_view>

namespace stave {

inline constexpr std::string_view ir_rules = R"md(## Rules

1. Order: each rank issues its commands depth first in text order; the body of an `async_start` is issued at the start.
2. `async_start` records an event on the issuing stream and makes the target stream wait for it, behind all that the target already holds. If both are the same stream nothing is recorded and the body runs in line.
3. `async_done` makes the stream it stands in wait for the event at the end of that body, and for nothing else; the host never blocks.
4. Tokens: `cond`, `switch`, `while` and `async_start` bodies are scopes; `range`, `repeat`, `when`, `collective_group` are not. After expansion every token is started once and done once. The done stands in the token's scope or in an `async_start` body nested in it, never in a `cond`, `switch` or `while` region below it. A token started in a body is done in that body. No token crosses a `while` iteration.
5. Stream numbers belong to the rank; a call does not rename them. A run ends when all streams are empty.
6. `repeat` *is* its unrolling, for every machine (`to` is exclusive); its index may stand in shapes, offsets, stream numbers, token indices and `when` tests. Run-time loops are `while`. An un-indexed name is local to its `repeat` iteration or `when` body; `%t[e]` belongs to the enclosing scope; a function body is a scope. Axes, params and indexes share one namespace without shadowing; lambda names shadow.
7. `scratch` and `constant` stand at the top of a function: one allocation for each call in the text, shared by all iterations; contents undefined at entry. Calls are acyclic.
8. Views: a negative offset is an error; offsets count elements of the leading dimension of the viewed shape, never bytes. `div` and `mod` round down. Bounds and byte alignment (sub-byte dtypes too) are verified for every coordinate of every axis used; the message names the coordinate and the value.
9. Mesh: rank = coordinates in row-major order, last axis fastest. `pairs`, `root`, `peer` are positions inside the group (flattened axis tuple, then index group), never global ranks.
10. Aliases: parameters of an entry never overlap; a call may pass overlapping views, judged after inlining. `map`, `all_reduce`, `broadcast`, `custom_call`: source and destination equal or disjoint. `all_gather`/`reduce_scatter` in place: the shard is position r of the whole. All else disjoint.
11. Effects come from the arrow: left of `->` is read, right is written, both is updated. `gemm` with beta ≠ 0 needs its destination as third operand.
12. A permute rank without a source gets zeros (as XLA does); without a target it only receives.
13. `communicator = n`, default 0 for collectives and 1 for permute, send, recv (as XLA). Collectives of one communicator run in issue order even across streams (measured, 2xH200, driver 580.159.04, NCCL 2.28.3: NCCL serialises them); different numbers are unordered.
14. Commands of a `collective_group` are one launch on one communicator (default 0 for all in it; two in one group are an error), unordered among themselves: overlapping writes are an error.
15. MPMD: the entries cover each rank once; collectives of different entries match by position per (group, communicator); inputs bind by (rank, parameter name).
16. `switch` out of range, also negative, runs the last branch (as XLA); the executor clamps, because CUDA's SWITCH node would run nothing.
17. Reductions sum, prod, min, max over s8 u8 s32 u32 s64 u64 f16 bf16 f32 f64 (f8 where NCCL has it); other dtypes only in byte-moving collectives.
18. Identity: a command's id is a path `entry/elem/…/elem`; elem = its `name`, or `op#k` with k = 1-based count of that op in its function's source text over nested regions; a call is an elem before its callee's; indices stand in brackets on the elem inside that `repeat`, outermost first (`ring_matmul/gemm#2[s=3]`); `name` is unique per function. While iterations are not in the path: `occurrence` counts executions within a step. It survives lowering, recording, prediction, storing and unrelated edits; a dense number per expansion is an index, never stored as identity.
19. Parameters of entries may be `(uniform = [x])`: equal on all ranks of the axis. Predicates that guard collectives must derive from such values.
20. `axis_index` may stand in view offsets and in `peer`, with + − * div mod; never in shapes, `when`, streams, groups, pairs, root. Ranks whose programs differ are MPMD.
21. `map`: lambda in the operands' dtype (halves computed in f32, integers wrap), result cast to the destination; no promotion; scalars and suffix shapes broadcast; abs exp log sin cos tanh sqrt rsqrt erf min max select cast and the comparisons.

)md";

}  // namespace stave
