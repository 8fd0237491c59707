#include "profiles/export/nsys_schema.h"

namespace stave::nsys_schema {
namespace {

#define I " INTEGER"
#define N " INTEGER NOT NULL"
#define DEVICE_ROW                                                                                           \
  "start" N ", end" N ", deviceId" N ", contextId" N ", greenContextId" I ", streamId" N ", correlationId" I \
  ", globalPid" I

constexpr const char* export_tables[] = {
    "CREATE TABLE StringIds(id" N " PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(" DEVICE_ROW ", demangledName" N ", shortName" N ", mangledName" I
    ", launchType" I ", cacheConfig" I ", registersPerThread" N ", gridX" N ", gridY" N ", gridZ" N ", blockX" N
    ", blockY" N ", blockZ" N ", staticSharedMemory" N ", dynamicSharedMemory" N ", localMemoryPerThread" N
    ", localMemoryTotal" N ", gridId" N ", sharedMemoryExecuted" I ", graphNodeId" I ", sharedMemoryLimitConfig" I
    ", qmdBulkReleaseDone" I ", qmdPreexitDone" I ", qmdLastCtaDone" I ", graphId" I ", clusterX" I ", clusterY" I
    ", clusterZ" I ", clusterSchedulingPolicy" I ", maxPotentialClusterSize" I ", maxActiveClusters" I
    ", sharedMemoryRequestedPercentage" I ")",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(" DEVICE_ROW ", bytes" N ", copyKind" N ", deprecatedSrcId" I ", srcKind" I
    ", dstKind" I ", srcDeviceId" I ", srcContextId" I ", dstDeviceId" I ", dstContextId" I ", migrationCause" I
    ", graphNodeId" I ", virtualAddress" I ", copyCount" I ")",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(" DEVICE_ROW ", value" N ", bytes" N ", graphNodeId" I ", memKind" I ")",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start" N ", end" N ", eventClass" N ", globalTid" I ", correlationId" I
    ", nameId" N ", returnValue" N ", callchainId" I ")",
    "CREATE TABLE NVTX_EVENTS(start" N ", end" I ", eventType" N ", rangeId" I ", category" I ", color" I
    ", text TEXT, globalTid" I ", endGlobalTid" I ", textId" I ", domainId" I ", uint64Value" I ", int64Value" I
    ", doubleValue REAL, uint32Value" I ", int32Value" I ", floatValue REAL, jsonTextId" I
    ", jsonText TEXT, binaryData TEXT)",
    "CREATE TABLE TARGET_INFO_GPU(vmId" N ", id" N ", name TEXT, busLocation TEXT, isDiscrete" I ", l2CacheSize" I
    ", totalMemory" I ", memoryBandwidth" I ", clockRate" I ", smCount" I ", pwGpuId" I ", uuid TEXT, luid" I
    ", chipName TEXT, cuDevice" I ", ctxswDevPath TEXT, ctrlDevPath TEXT, revision" I ", nodeMask" I
    ", constantMemory" I ", maxIPC" I ", maxRegistersPerBlock" I ", maxShmemPerBlock" I ", maxShmemPerBlockOptin" I
    ", maxShmemPerSm" I ", maxRegistersPerSm" I ", threadsPerWarp" I ", asyncEngines" I ", maxWarpsPerSm" I
    ", maxBlocksPerSm" I ", maxThreadsPerBlock" I ", maxBlockDimX" I ", maxBlockDimY" I ", maxBlockDimZ" I
    ", maxGridDimX" I ", maxGridDimY" I ", maxGridDimZ" I ", computeMajor" I ", computeMinor" I ", smMajor" I
    ", smMinor" I ")",
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs" I ", utcTime TEXT, localTime TEXT, systemClockNs" I ")",
    "CREATE TABLE ANALYSIS_DETAILS(globalVid" N ", duration" N ", startTime" N ", stopTime" N ")",
    "CREATE TABLE PROCESSES(globalPid" I ", pid" I ", name TEXT)",
    "CREATE TABLE ThreadNames(nameId" N ", priority" I ", globalTid" I ")",
    "CREATE TABLE META_DATA_CAPTURE(name TEXT NOT NULL, value TEXT)",
    "CREATE TABLE META_DATA_EXPORT(name TEXT NOT NULL, value TEXT)",
    "CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id" N " PRIMARY KEY, name TEXT, label TEXT)",
    "CREATE TABLE ENUM_CUDA_MEM_KIND(id" N " PRIMARY KEY, name TEXT, label TEXT)",
    "CREATE TABLE ENUM_NSYS_EVENT_CLASS(id" N " PRIMARY KEY, name TEXT, label TEXT)",
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE(id" N " PRIMARY KEY, name TEXT, label TEXT)",
};

#undef I
#undef N
#undef DEVICE_ROW

constexpr Word memcpy_words[] = {
    {0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};
constexpr Word memory_words[] = {
    {0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};
// Of the longer lists, the rows that are used.
constexpr Word class_words[] = {{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"}};
constexpr Word type_words[] = {{59, "NvtxPushPopRange", "NvtxPushPopRange"}};

constexpr Words export_words[] = {{"ENUM_CUDA_MEMCPY_OPER", memcpy_words},
                                  {"ENUM_CUDA_MEM_KIND", memory_words},
                                  {"ENUM_NSYS_EVENT_CLASS", class_words},
                                  {"ENUM_NSYS_EVENT_TYPE", type_words}};

}  // namespace

std::span<const char* const> tables() { return export_tables; }
std::span<const Words> words() { return export_words; }

}  // namespace stave::nsys_schema
