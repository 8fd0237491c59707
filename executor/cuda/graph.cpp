// A rank's program as one CUDA graph: each node's work is captured behind the
// nodes that it comes after; cond, switch and while are conditional nodes whose
// value a kernel of ours sets, because the host looks at nothing.
#include <algorithm>
#include <deque>
#include <span>

#include "executor/cuda/compiler.h"
#include "executor/cuda/rank_state.h"

namespace stave::cuda {
namespace {

// CUDA Programming Guide 4.2, "Conditional Graph Nodes": SWITCH runs nothing for a
// number that is out of range, so that the number is clamped here (docs/ir.md rule 16).
constexpr std::string_view setters = R"cuda(
typedef unsigned long long u64;
typedef unsigned int u32;
struct BoardHead { u32 abort, pad, claimed, kind, rank, command, peer, peer_command; };
extern "C" __device__ void cudaGraphSetConditional(u64 handle, u32 value);

extern "C" __global__ void set_if(u64 handle, const unsigned char* predicate, u64* then_runs, u64* else_runs) {
  const bool taken = *predicate != 0;
  ++*(taken ? then_runs : else_runs);
  cudaGraphSetConditional(handle, taken);
}

extern "C" __global__ void set_switch(u64 handle, const int* number, u32 branches, u64* const* runs) {
  const int n = *number;
  const u32 taken = n < 0 || (u32)n >= branches ? branches - 1 : (u32)n;
  ++*runs[taken];
  cudaGraphSetConditional(handle, taken);
}

extern "C" __global__ void set_while(u64 handle, const unsigned char* predicate, u64* runs, u64* trips, u64 limit,
                                     BoardHead* board, u32 rank, u32 command, u32 enters) {
  if (enters) *trips = 0;
  bool more = *predicate != 0 && *(volatile u32*)&board->abort == 0;
  if (more && ++*trips > limit) {
    more = false;
    if (atomicCAS_system(&board->claimed, 0u, 1u) == 0u) {
      board->rank = rank;
      board->command = command;
      __threadfence_system();
      *(volatile u32*)&board->kind = 2u;
      *(volatile u32*)&board->abort = 1u;
    }
  }
  if (more) ++*runs;
  cudaGraphSetConditional(handle, more);
}
)cuda";

using Nodes = std::vector<cudaGraphNode_t>;

// A graph with more branches than a device has queues may stand still: then the oldest, long done, is waited for.
constexpr std::size_t most_asides = 16;

class Building {
 public:
  explicit Building(const GraphContext& context)
      : x_(context),
        r_(context.rank),
        program_(context.rank.rank_class->program),
        tails_(context.rank.rank_class->program.nodes.size()) {}

  // Adds the nodes of a program's graph; gives those that nothing comes after. All of it is one capture: NCCL knows
  // a graph by its capture, and refuses a second one (NCCL 2.28.3, "unhandled cuda error").
  Result<Nodes> fill(GraphId id, cudaGraph_t graph) {
    cudaStream_t stream = nullptr;
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const cudaStream_t outer = std::exchange(capture_, stream);
    Result<Nodes> filled = fill_captured(id, graph);
    cudaGraph_t ended = nullptr;
    const Status end = status_of(cudaStreamEndCapture(stream, &ended), "cudaStreamEndCapture");
    cudaStreamDestroy(stream);
    capture_ = outer;
    if (filled && !end.ok()) return failure_of(end, "a graph", r_.rank, {});
    return filled;
  }

 private:
  Result<Nodes> fill_captured(GraphId id, cudaGraph_t graph) {
    // Relaxed: NCCL lets devices see each other in a communicator's first collective, which the other capture modes
    // refuse (NCCL 2.28.3, "operation not permitted when stream is capturing").
    CUDA_TRY(cudaStreamBeginCaptureToGraph(capture_, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    Nodes open;
    for (const NodeId node : program_.graphs[id].nodes) {
      Nodes after;
      for (const auto ref : program_.nodes[node].after)
        for (const cudaGraphNode_t n : tails_[program_.node_refs[ref].value]) add_once(after, n);
      TRY(tails_[node.value], add(program_.nodes[node], graph, after));
      for (const cudaGraphNode_t n : after) std::erase(open, n);
      for (const cudaGraphNode_t n : tails_[node.value]) add_once(open, n);
    }
    if (program_.graphs[id].nodes.empty()) {
      cudaGraphNode_t empty = nullptr;
      CUDA_TRY(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
      open.push_back(empty);
    }
    // The condition of a `while` comes last, inside the capture.
    if (const auto at = last_of_.find(id); at != last_of_.end()) {
      TRY(open, capture(at->second.launch, at->second.command, open));
    }
    TRY_VOID(continue_after(open));
    return open;
  }

  // What is captured next comes after these.
  Result<void> continue_after(const Nodes& nodes) {
    Nodes list = nodes;
    CUDA_TRY(cudaStreamUpdateCaptureDependencies(capture_, list.data(), nullptr, list.size(),
                                                 cudaStreamSetCaptureDependencies));
    return {};
  }

  static void add_once(Nodes& nodes, cudaGraphNode_t node) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }

  Failure failed(const Status& status, CommandId command) const {
    const Expanded& e = r_.rank_class->expanded;
    return failure_of(status, e.path(command), r_.rank, e.place(e[command]));
  }

  Result<Nodes> capture(const Launch& launch, CommandId command, const Nodes& after) {
    TRY_VOID(continue_after(after));
    if (x_.recorder) x_.recorder->begin(r_.rank, command, 0);
    Result<Nodes> last = capture_works(launch, command);
    if (x_.recorder) x_.recorder->end();
    return last;
  }

  // Those that stand aside come first: where a device takes both in one queue, copies must not stand behind a kernel
  // that waits for the peer's.
  Result<Nodes> capture_works(const Launch& launch, CommandId command) {
    const std::span<const Work> works = launch.works;
    Status status = issue(works.first(launch.aside_first), capture_);
    if (status.ok() && launch.aside_count > 0) {
      TRY(Nodes before, captured());
      status = issue(works.subspan(launch.aside_first, launch.aside_count), capture_);
      if (!status.ok()) return failed(status, command);
      TRY(Nodes aside, captured());
      asides_.push_back(std::move(aside));
      if (asides_.size() > most_asides) {
        for (const cudaGraphNode_t n : asides_.front()) add_once(before, n);
        asides_.pop_front();
      }
      TRY_VOID(continue_after(before));
    }
    if (status.ok()) status = issue(works.subspan(launch.aside_first + launch.aside_count), capture_);
    if (!status.ok()) return failed(status, command);
    return captured();
  }

  // The last nodes of the capture.
  Result<Nodes> captured() const {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t into = nullptr;
    const cudaGraphNode_t* last = nullptr;
    const cudaGraphEdgeData* edges = nullptr;
    std::size_t count = 0;
    CUDA_TRY(cudaStreamGetCaptureInfo(capture_, &state, &id, &into, &last, &edges, &count));
    return Nodes(last, last + count);
  }

  Result<Nodes> add(const GraphNode& node, cudaGraph_t graph, const Nodes& after) {
    if (node.kind == GraphNode::Kind::Launch) return capture(r_.launches[node.command.value], node.command, after);
    cudaGraphConditionalHandle handle{};
    CUDA_TRY(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
    TRY(Launch setter, setter_of(node, handle, true));
    TRY(const Nodes set, capture(setter, node.command, after));
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = node.kind == GraphNode::Kind::If      ? cudaGraphCondTypeIf
                                  : node.kind == GraphNode::Kind::While ? cudaGraphCondTypeWhile
                                                                        : cudaGraphCondTypeSwitch;
    parameters.conditional.size = static_cast<unsigned>(node.bodies.size());
    cudaGraphNode_t made = nullptr;
    CUDA_TRY(cudaGraphAddNode(&made, graph, set.data(), nullptr, set.size(), &parameters));
    const std::vector<cudaGraph_t> bodies(parameters.conditional.phGraph_out,
                                          parameters.conditional.phGraph_out + node.bodies.size());
    for (std::size_t i = 0; i < node.bodies.size(); ++i) {
      const GraphId body = program_.graph_refs[node.bodies[i]];
      if (node.kind == GraphNode::Kind::While) {
        TRY(Launch again, setter_of(node, handle, false));
        last_of_.insert_or_assign(body, Last{std::move(again), node.command});
      }
      TRY_VOID(fill(body, bodies[i]));
    }
    return Nodes{made};
  }

  std::uint64_t* runs_of(const GraphNode& node, std::size_t body) const {
    return r_.body_runs + program_.graph_refs[node.bodies[body]].value;
  }

  Result<Launch> setter_of(const GraphNode& node, cudaGraphConditionalHandle handle, bool enters) {
    static constexpr std::string_view names[] = {"", "set_if", "set_switch", "set_while"};
    KernelWork work;
    TRY(work.kernel, x_.compiler.cuda(setters, names[static_cast<std::size_t>(node.kind)]));
    work.add(handle);
    work.add(r_.predicates[node.command.value]);
    if (node.kind == GraphNode::Kind::If) {
      work.add(runs_of(node, 0));
      // Without `else` its runs go to the word behind all graphs.
      work.add(node.bodies.size() > 1 ? runs_of(node, 1) : r_.body_runs + program_.graphs.size());
    } else if (node.kind == GraphNode::Kind::Switch) {
      std::vector<std::uint64_t*> runs;
      for (std::size_t i = 0; i < node.bodies.size(); ++i) runs.push_back(runs_of(node, i));
      TRY(std::uint64_t * * const table, r_.own.device_copy(std::span<std::uint64_t* const>(runs)));
      work.add(static_cast<std::uint32_t>(runs.size()));
      work.add(table);
    } else {
      std::uint64_t*& trips = trips_[&node];
      if (trips == nullptr) {
        TRY(void* const at, r_.own.device(sizeof(std::uint64_t)));
        trips = static_cast<std::uint64_t*>(at);
      }
      work.add(runs_of(node, 0));
      work.add(trips);
      work.add(static_cast<std::uint64_t>(x_.max_iterations));
      work.add(x_.board);
      work.add(r_.rank);
      work.add(node.command.value);
      work.add(std::uint32_t{enters});
    }
    work.seal();
    Launch launch;
    launch.works.emplace_back(std::move(work));
    return launch;
  }

  struct Last {
    Launch launch;
    CommandId command;
  };

  const GraphContext& x_;
  RankState& r_;
  const IssueProgram& program_;
  std::vector<Nodes> tails_;  // by node: what comes after it waits for these
  std::map<const GraphNode*, std::uint64_t*> trips_;
  std::map<GraphId, Last> last_of_;  // what ends a body
  cudaStream_t capture_ = nullptr;   // of the graph that is filled
  std::deque<Nodes> asides_;         // that nothing waits for yet, in order; none in a body (STV0551)
};

}  // namespace

Result<void> build_graph(const GraphContext& context) {
  RankState& r = context.rank;
  const IssueProgram& program = r.rank_class->program;
  const std::size_t words = program.graphs.size() + 1;
  r.bodies = program.graphs.size() > 1;
  TRY(void* const runs, r.own.device(words * sizeof(std::uint64_t)));
  TRY(void* const seen, r.own.pinned(words * sizeof(std::uint64_t)));
  r.body_runs = static_cast<std::uint64_t*>(runs);
  r.body_runs_seen = static_cast<std::uint64_t*>(seen);
  CUDA_TRY(cudaGraphCreate(&r.graph, 0));
  GraphId top{};
  for (const Action& a : program.actions)
    if (a.kind == Action::Kind::GraphLaunch) top = a.graph;
  TRY_VOID(Building(context).fill(top, r.graph));
  CUDA_TRY(cudaGraphInstantiate(&r.exec, r.graph, 0));
  CUDA_TRY(cudaGraphUpload(r.exec, r.streams[0]));
  CUDA_TRY(cudaStreamSynchronize(r.streams[0]));
  return {};
}

void count_captured(RankState& r) {
  const IssueProgram& program = r.rank_class->program;
  std::fill(r.executed.begin(), r.executed.end(), 0);
  std::size_t top = program.graphs.size();
  for (const Action& a : program.actions)
    if (a.kind == Action::Kind::GraphLaunch) top = a.graph.value;
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    const auto runs = g == top ? 1 : static_cast<std::int64_t>(r.body_runs_seen[g]);
    for (const NodeId id : program.graphs[GraphId{g}].nodes) {
      const GraphNode& node = program.nodes[id];
      r.executed[node.command.value] += runs;
      if (node.kind == GraphNode::Kind::While)
        r.executed[node.command.value] +=
            static_cast<std::int64_t>(r.body_runs_seen[program.graph_refs[node.bodies[0]].value]);
    }
  }
}

void RankState::drop_graph() {
  cudaSetDevice(device);
  if (exec) cudaGraphExecDestroy(std::exchange(exec, nullptr));
  if (graph) cudaGraphDestroy(std::exchange(graph, nullptr));
}

RankState::~RankState() {
  drop_graph();
  for (const std::vector<cudaEvent_t>* list : {&events, &joins, &communicators, &ends})
    for (const cudaEvent_t e : *list)
      if (e) cudaEventDestroy(e);
  for (const cudaEvent_t e : {start, end})
    if (e) cudaEventDestroy(e);
  for (const cudaStream_t s : streams) cudaStreamDestroy(s);
  for (const Launch& launch : launches)
    for (const Work& work : launch.works)
      if (const auto* gemm = std::get_if<GemmWork>(&work)) {
        for (const cublasLtMatrixLayout_t layout : {gemm->a, gemm->b, gemm->c}) cublasLtMatrixLayoutDestroy(layout);
        cublasLtMatmulDescDestroy(gemm->desc);
      }
}

}  // namespace stave::cuda
