#include "executor/cuda/recorder.h"

#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <span>

#include "executor/cuda/nvml.h"
#include "executor/cuda/recorder_state.h"

namespace stave::cuda {
namespace {

std::atomic<Recorder::State*> recording = nullptr;  // CUPTI's callbacks for buffers have no argument of ours
thread_local CommandMark current;
thread_local bool has_current = false;

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = buffer_bytes;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *records = 0;
}

DeviceRecord device_record(DeviceRecord::Kind kind, std::uint64_t start, std::uint64_t end, std::uint32_t correlation,
                           std::uint64_t node, std::uint32_t graph) {
  DeviceRecord r;
  r.kind = kind;
  r.start = start;
  r.end = end;
  r.correlation = correlation;
  r.graph_node = node;
  r.graph = graph;
  return r;
}

LaunchDims dims(std::int64_t x, std::int64_t y, std::int64_t z) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}

// "cudaLaunchKernelExC_v11060" without its version.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool digits =
      at != std::string_view::npos && name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? name.substr(0, at) : name;
}

void take(Recorder::State& s, const CUpti_Activity& any) {
  const auto add = [&](DeviceRecord r) {
    if (r.start == 0 || r.end == 0)
      ++s.timeless;
    else
      s.device.push_back(r);
  };
  switch (any.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = reinterpret_cast<const CUpti_ActivityKernel10&>(any);
      DeviceRecord r =
          device_record(DeviceRecord::Kind::Kernel, k.start, k.end, k.correlationId, k.graphNodeId, k.graphId);
      r.name = s.names.intern(k.name ? k.name : "");
      r.grid = dims(k.gridX, k.gridY, k.gridZ);
      r.block = dims(k.blockX, k.blockY, k.blockZ);
      r.cluster = dims(k.clusterX, k.clusterY, k.clusterZ);
      r.registers = k.registersPerThread;
      r.static_shared = static_cast<std::uint32_t>(k.staticSharedMemory);
      r.dynamic_shared = static_cast<std::uint32_t>(k.dynamicSharedMemory);
      return add(r);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& c = reinterpret_cast<const CUpti_ActivityMemcpy6&>(any);
      DeviceRecord r =
          device_record(DeviceRecord::Kind::Copy, c.start, c.end, c.correlationId, c.graphNodeId, c.graphId);
      r.name = s.names.intern("memcpy");
      r.bytes = c.bytes;
      r.copy_kind = c.copyKind;
      r.source_kind = c.srcKind;
      r.target_kind = c.dstKind;
      r.source_device = r.target_device = c.deviceId;
      return add(r);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& c = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(any);
      DeviceRecord r =
          device_record(DeviceRecord::Kind::Copy, c.start, c.end, c.correlationId, c.graphNodeId, c.graphId);
      r.name = s.names.intern("memcpy peer");
      r.bytes = c.bytes;
      r.copy_kind = c.copyKind;
      r.source_kind = c.srcKind;
      r.target_kind = c.dstKind;
      r.source_device = c.srcDeviceId;
      r.target_device = c.dstDeviceId;
      return add(r);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& m = reinterpret_cast<const CUpti_ActivityMemset4&>(any);
      DeviceRecord r =
          device_record(DeviceRecord::Kind::Memset, m.start, m.end, m.correlationId, m.graphNodeId, m.graphId);
      r.name = s.names.intern("memset");
      r.bytes = m.bytes;
      r.value = m.value;
      return add(r);
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
      const auto& g = reinterpret_cast<const CUpti_ActivityGraphTrace2&>(any);
      DeviceRecord r = device_record(DeviceRecord::Kind::Graph, g.start, g.end, g.correlationId, 0, g.graphId);
      r.name = s.names.intern("graph");
      return add(r);
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& a = reinterpret_cast<const CUpti_ActivityAPI&>(any);
      const char* name = nullptr;
      cuptiGetCallbackName(
          any.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, a.cbid,
          &name);
      const std::string_view shown = without_version(name ? name : "");
      if (shown.ends_with("EventQuery") || shown.ends_with("StreamQuery")) return;  // how this driver waits
      s.api.push_back({a.start, a.end, a.threadId, a.correlationId, a.returnValue, s.names.intern(shown)});
      return;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& x = reinterpret_cast<const CUpti_ActivityExternalCorrelation&>(any);
      s.by_correlation[x.correlationId] = {static_cast<Rank>(x.externalId >> 52 & 0x7ff),
                                           static_cast<std::uint32_t>(x.externalId >> 24 & 0xfffffff), 0,
                                           static_cast<std::uint32_t>(x.externalId & 0xffffff)};
      return;
    }
    default: return;
  }
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (Recorder::State* const state = recording) {
    const std::lock_guard lock(state->mutex);
    CUpti_Activity* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) take(*state, *record);
    std::size_t dropped = 0;
    if (cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS) state->dropped += dropped;
  }
  std::free(buffer);
}

void on_graph_node(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  Recorder::State* const state = recording;
  if (state == nullptr || domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  const auto* graph = static_cast<const CUpti_GraphData*>(resource->resourceDescriptor);
  std::uint64_t node = 0, original = 0;
  if (graph == nullptr || cuptiGetGraphNodeId(graph->node, &node) != CUPTI_SUCCESS) return;
  const std::lock_guard lock(state->mutex);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED && has_current) state->by_node[node] = current;
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && graph->originalNode != nullptr &&
      cuptiGetGraphNodeId(graph->originalNode, &original) == CUPTI_SUCCESS) {
    const auto at = state->by_node.find(original);
    if (at != state->by_node.end()) state->by_node[node] = at->second;
  }
}

constexpr CUpti_ActivityKind full_kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                             CUPTI_ACTIVITY_KIND_MEMCPY,
                                             CUPTI_ACTIVITY_KIND_MEMCPY2,
                                             CUPTI_ACTIVITY_KIND_MEMSET,
                                             CUPTI_ACTIVITY_KIND_RUNTIME,
                                             CUPTI_ACTIVITY_KIND_DRIVER,
                                             CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
// External correlation goes with the API records.
constexpr CUpti_ActivityKind graph_kinds[] = {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_RUNTIME,
                                              CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

std::span<const CUpti_ActivityKind> kinds_of(Profile profile) {
  return profile == Profile::Graph ? std::span<const CUpti_ActivityKind>(graph_kinds) : full_kinds;
}

Failure refused(CUptiResult result, std::string_view call) {
  const char* text = nullptr;
  cuptiGetResultString(result, &text);
  return error_at({}, "STV0827", "the recorder cannot start: {} failed: {}; --no-profile runs without it", call,
                  text ? text : "unknown");
}

}  // namespace

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}

Recorder::~Recorder() { recording = nullptr; }

Result<std::unique_ptr<Recorder>> Recorder::start(Profile profile) {
  auto state = std::make_unique<State>();
  state->profile = profile;
  recording = state.get();
  CUpti_SubscriberHandle subscriber = nullptr;
  const auto give_up = [&](CUptiResult result, std::string_view call) {
    recording = nullptr;
    return refused(result, call);
  };
  if (const CUptiResult r = cuptiSubscribe(&subscriber, on_graph_node, nullptr); r != CUPTI_SUCCESS)
    return give_up(r, "cuptiSubscribe");
  for (const CUpti_CallbackId id : {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    if (const CUptiResult r = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id); r != CUPTI_SUCCESS)
      return give_up(r, "cuptiEnableCallback");
  if (const CUptiResult r = cuptiActivityRegisterCallbacks(give_buffer, take_buffer); r != CUPTI_SUCCESS)
    return give_up(r, "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : kinds_of(profile))
    if (const CUptiResult r = cuptiActivityEnable(kind); r != CUPTI_SUCCESS) return give_up(r, "cuptiActivityEnable");
  state->subscriber = subscriber;
  return std::unique_ptr<Recorder>(new Recorder(std::move(state)));
}

void Recorder::rank_thread(Rank rank) {
  const std::lock_guard lock(state_->mutex);
  state_->threads[static_cast<std::uint32_t>(::syscall(SYS_gettid))] = rank;
}

void Recorder::mark(const CommandMark& mark) {
  {
    const std::lock_guard lock(state_->mutex);
    current = mark;
    current.instance = ++state_->instances;
  }
  // CUPTI's ids: rank, command and occurrence in 11, 28 and 24 bits.
  const std::uint64_t id = std::uint64_t{1} << 63 | std::uint64_t{mark.rank & 0x7ff} << 52 |
                           std::uint64_t{mark.command & 0xfffffff} << 24 | (mark.occurrence & 0xffffff);
  cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
}

void Recorder::begin(Rank rank, CommandId command, std::uint32_t occurrence) {
  mark({rank, command.value, 0, occurrence});
  has_current = true;
}

void Recorder::begin_graph(Rank rank) { mark({rank, whole_graph, 0, 0}); }

void Recorder::end() {
  std::uint64_t id = 0;
  cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
  has_current = false;
}

std::uint64_t Recorder::now() const {
  std::uint64_t ns = 0;
  cuptiGetTimestamp(&ns);
  return ns;
}

void Recorder::step(Rank rank, std::uint32_t number, bool warmup, std::uint64_t start, std::uint64_t end) {
  const std::lock_guard lock(state_->mutex);
  state_->steps.push_back({rank, number, warmup, start, end});
}

void Recorder::sample(Rank rank, int device) {
  // A look takes time in which the device idles.
  constexpr std::uint64_t apart_ns = 50'000'000;
  const std::uint64_t time = now();
  {
    const std::lock_guard lock(state_->mutex);
    for (const ClockSample& s : state_->samples)
      if (s.rank == rank && time - s.time < apart_ns) return;
  }
  std::optional<ClockSample> sample = clocks_of(device);
  if (!sample) return;
  sample->rank = rank;
  sample->time = time;
  const std::lock_guard lock(state_->mutex);
  state_->samples.push_back(*sample);
}

Result<void> Recorder::finish(const Plan& plan, const std::vector<int>& devices, const std::string& gpu, World* world,
                              TimelineSink& sink) {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : kinds_of(state_->profile)) cuptiActivityDisable(kind);
  recording = nullptr;
  // An issuing thread that comes late waits here; the state stays.
  const std::lock_guard lock(state_->mutex);
  std::vector<std::unique_ptr<State>> others;
  std::vector<const State*> states = {state_.get()};
  Result<void> heard;
  if (world) {
    const bool first = world->process() == 0;
    Result<std::vector<std::string>> all =
        world->all_gather("records", first ? std::string() : packed(*state_),
                          std::chrono::steady_clock::now() + std::chrono::seconds(120));
    if (!first) return all ? Result<void>() : Failure(std::move(all).problems());
    if (!all) heard = Failure(all.problems());
    for (std::size_t p = 1; heard && p < all->size(); ++p) {
      others.push_back(std::make_unique<State>());
      heard = unpack((*all)[p], *others.back());
      states.push_back(others.back().get());
    }
    // The own records are kept if those of others do not come.
    if (!heard) states.resize(1);
  }
  TRY_VOID(send_rows(states, plan, devices, gpu, sink));
  return heard;
}

}  // namespace stave::cuda
