// The part of the CUDA driver's and NVML's binary interfaces that gputomo calls, declared here so that no toolkit is
// needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gputomo::device::cuda::abi {

/// CUresult. Only the values that this backend treats specially have names.
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;

using DeviceOrdinal = int;  // CUdevice
using DevicePointer = std::uint64_t;
using Context = struct ContextTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using LinkState = struct LinkStateTag*;
using AllocationHandle = std::uint64_t;
using TextureObject = std::uint64_t;
using Array = struct ArrayTag*;

/// CUlaunchAttribute
struct LaunchAttribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        int cooperative;
        unsigned cluster[3];
    } value;
};
inline constexpr int kLaunchCooperative = 2;
inline constexpr int kLaunchCluster = 4;

/// CUlaunchConfig
struct LaunchConfiguration {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    Stream stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

// CUjit_option and CUjitInputType
inline constexpr int kJitInfoLogBuffer = 3;
inline constexpr int kJitInfoLogBufferSize = 4;
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferSize = 6;
inline constexpr int kJitLogVerbose = 12;
inline constexpr int kJitInputPtx = 1;

// CUfunction_attribute
inline constexpr int kFunctionMaxThreadsPerBlock = 0;
inline constexpr int kFunctionSharedSize = 1;
inline constexpr int kFunctionLocalSize = 3;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kFunctionPreferredCarveout = 9;
inline constexpr int kFunctionLargeClusters = 14;  ///< CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
inline constexpr int kCarveoutDefault = -1;

// CUdevice_attribute, where the backend itself asks
inline constexpr int kAttributeReservedSharedPerBlock = 111;
inline constexpr int kAttributeMultiprocessorSharedMemory = 81;
inline constexpr int kAttributeVirtualMemoryManagement = 102;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kHostPortableAndMapped = 3;  // CU_MEMHOSTREGISTER_PORTABLE | _DEVICEMAP

/// CUuuid
struct Uuid {
    unsigned char bytes[16];
};

/// CUmemLocation
struct MemoryLocation {
    int type;
    int id;
};
inline constexpr int kLocationDevice = 1;

/// CUmemAllocationProp
struct AllocationProperties {
    int type;
    int requested_handle_types;
    MemoryLocation location;
    void* win32_metadata;
    struct {
        unsigned char compression;
        unsigned char rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
};
inline constexpr int kAllocationPinned = 1;
inline constexpr int kGranularityMinimum = 0;

/// CUmemAccessDesc
struct AccessDescription {
    MemoryLocation location;
    int flags;
};
inline constexpr int kAccessReadWrite = 3;

/// CUDA_RESOURCE_DESC, without mipmapped arrays.
struct ResourceDescription {
    int type;
    union {
        Array array;
        struct {
            DevicePointer pointer;
            int format;
            unsigned channels;
            std::size_t width;
            std::size_t height;
            std::size_t pitch;
        } rows;
        struct {
            DevicePointer pointer;
            int format;
            unsigned channels;
            std::size_t bytes;
        } linear;
        int reserved[32];
    } resource;
    unsigned flags;
};
inline constexpr int kResourceArray = 0;
inline constexpr int kResourceLinear = 2;
inline constexpr int kResourcePitch2d = 3;
inline constexpr int kFormatU32 = 0x03;
inline constexpr int kFormatS32 = 0x0a;
inline constexpr int kFormatF32 = 0x20;

/// CUDA_TEXTURE_DESC
struct TextureDescription {
    int address_mode[3];
    int filter_mode;
    unsigned flags;
    unsigned max_anisotropy;
    int mipmap_filter_mode;
    float mipmap_level_bias;
    float min_mipmap_level_clamp;
    float max_mipmap_level_clamp;
    float border_color[4];
    int reserved[12];
};
inline constexpr int kAddressClamp = 1;
inline constexpr int kFilterLinear = 1;
inline constexpr unsigned kReadAsInteger = 1;
inline constexpr unsigned kNormalizedCoordinates = 2;

// Launch "extra" tags: the parameters as one packed buffer.
inline void* const kLaunchParamEnd = nullptr;
inline void* const kLaunchParamBufferPointer = reinterpret_cast<void*>(1);
inline void* const kLaunchParamBufferSize = reinterpret_cast<void*>(2);

// The driver is 64-bit Linux: these are its layouts.
static_assert(sizeof(AllocationProperties) == 32);
static_assert(sizeof(AccessDescription) == 12);
static_assert(sizeof(LaunchAttribute) == 72);
static_assert(sizeof(LaunchConfiguration) == 56);
static_assert(offsetof(LaunchConfiguration, stream) == 32);
static_assert(sizeof(ResourceDescription) == 144);
static_assert(offsetof(ResourceDescription, resource) == 8);
static_assert(offsetof(ResourceDescription, flags) == 136);
static_assert(sizeof(TextureDescription) == 104);

// One row per entry point: member of Functions, exported symbol, parameters. All return Result.
#define GPUTOMO_CUDA_REQUIRED(ROW)                                                                                    \
    ROW(init, "cuInit", (unsigned))                                                                                   \
    ROW(driver_get_version, "cuDriverGetVersion", (int*))                                                             \
    ROW(get_error_name, "cuGetErrorName", (Result, const char**))                                                     \
    ROW(get_error_string, "cuGetErrorString", (Result, const char**))                                                 \
    ROW(device_get_count, "cuDeviceGetCount", (int*))                                                                 \
    ROW(device_get, "cuDeviceGet", (DeviceOrdinal*, int))                                                             \
    ROW(device_get_name, "cuDeviceGetName", (char*, int, DeviceOrdinal))                                              \
    ROW(device_get_attribute, "cuDeviceGetAttribute", (int*, int, DeviceOrdinal))                                     \
    ROW(device_total_mem, "cuDeviceTotalMem_v2", (std::size_t*, DeviceOrdinal))                                       \
    ROW(primary_context_retain, "cuDevicePrimaryCtxRetain", (Context*, DeviceOrdinal))                                \
    ROW(context_set_current, "cuCtxSetCurrent", (Context))                                                            \
    ROW(mem_alloc, "cuMemAlloc_v2", (DevicePointer*, std::size_t))                                                    \
    ROW(mem_free, "cuMemFree_v2", (DevicePointer))                                                                    \
    ROW(memcpy_to_device, "cuMemcpyHtoDAsync_v2", (DevicePointer, const void*, std::size_t, Stream))                  \
    ROW(memcpy_to_host, "cuMemcpyDtoHAsync_v2", (void*, DevicePointer, std::size_t, Stream))                          \
    ROW(memset_d32, "cuMemsetD32Async", (DevicePointer, unsigned, std::size_t, Stream))                               \
    ROW(stream_create, "cuStreamCreate", (Stream*, unsigned))                                                         \
    ROW(stream_query, "cuStreamQuery", (Stream))                                                                      \
    ROW(stream_destroy, "cuStreamDestroy_v2", (Stream))                                                               \
    ROW(event_create, "cuEventCreate", (Event*, unsigned))                                                            \
    ROW(event_record, "cuEventRecord", (Event, Stream))                                                               \
    ROW(event_query, "cuEventQuery", (Event))                                                                         \
    ROW(event_elapsed_time, "cuEventElapsedTime", (float*, Event, Event))                                             \
    ROW(event_destroy, "cuEventDestroy_v2", (Event))                                                                  \
    ROW(link_create, "cuLinkCreate_v2", (unsigned, int*, void**, LinkState*))                                         \
    ROW(link_add_data, "cuLinkAddData_v2", (LinkState, int, void*, std::size_t, const char*, unsigned, int*, void**)) \
    ROW(link_complete, "cuLinkComplete", (LinkState, void**, std::size_t*))                                           \
    ROW(link_destroy, "cuLinkDestroy", (LinkState))                                                                   \
    ROW(module_load_data, "cuModuleLoadData", (Module*, const void*))                                                 \
    ROW(module_unload, "cuModuleUnload", (Module))                                                                    \
    ROW(module_get_function, "cuModuleGetFunction", (Function*, Module, const char*))                                 \
    ROW(module_get_global, "cuModuleGetGlobal_v2", (DevicePointer*, std::size_t*, Module, const char*))               \
    ROW(function_get_attribute, "cuFuncGetAttribute", (int*, int, Function))                                          \
    ROW(function_set_attribute, "cuFuncSetAttribute", (Function, int, int))                                           \
    ROW(launch_kernel, "cuLaunchKernel",                                                                              \
        (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**))     \
    ROW(texture_create, "cuTexObjectCreate",                                                                          \
        (TextureObject*, const ResourceDescription*, const TextureDescription*, const void*))                         \
    ROW(texture_destroy, "cuTexObjectDestroy", (TextureObject))                                                       \
    ROW(primary_context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceOrdinal))

// Entry points that older drivers lack; nullptr there.
#define GPUTOMO_CUDA_OPTIONAL(ROW)                                                                                    \
    ROW(device_get_uuid, "cuDeviceGetUuid", (Uuid*, DeviceOrdinal))                                                   \
    ROW(device_get_pci_bus_id, "cuDeviceGetPCIBusId", (char*, int, DeviceOrdinal))                                    \
    ROW(function_get_param_info, "cuFuncGetParamInfo", (Function, std::size_t, std::size_t*, std::size_t*))           \
    ROW(mem_get_allocation_granularity, "cuMemGetAllocationGranularity",                                              \
        (std::size_t*, const AllocationProperties*, int))                                                             \
    ROW(mem_address_reserve, "cuMemAddressReserve",                                                                   \
        (DevicePointer*, std::size_t, std::size_t, DevicePointer, unsigned long long))                                \
    ROW(mem_address_free, "cuMemAddressFree", (DevicePointer, std::size_t))                                           \
    ROW(mem_create, "cuMemCreate", (AllocationHandle*, std::size_t, const AllocationProperties*, unsigned long long)) \
    ROW(mem_release, "cuMemRelease", (AllocationHandle))                                                              \
    ROW(mem_map, "cuMemMap", (DevicePointer, std::size_t, std::size_t, AllocationHandle, unsigned long long))         \
    ROW(mem_unmap, "cuMemUnmap", (DevicePointer, std::size_t))                                                        \
    ROW(mem_set_access, "cuMemSetAccess", (DevicePointer, std::size_t, const AccessDescription*, std::size_t))        \
    ROW(mem_host_register, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))                                    \
    ROW(mem_host_unregister, "cuMemHostUnregister", (void*))                                                          \
    ROW(launch_kernel_ex, "cuLaunchKernelEx", (const LaunchConfiguration*, Function, void**, void**))                 \
    ROW(primary_context_reset, "cuDevicePrimaryCtxReset_v2", (DeviceOrdinal))

/// The driver's entry points, filled by Driver.
struct Functions {
#define GPUTOMO_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
    GPUTOMO_CUDA_REQUIRED(GPUTOMO_CUDA_MEMBER)
    GPUTOMO_CUDA_OPTIONAL(GPUTOMO_CUDA_MEMBER)
#undef GPUTOMO_CUDA_MEMBER
};

// NVML
using NvmlResult = int;
using NvmlDevice = struct NvmlDeviceTag*;
inline constexpr NvmlResult kNvmlNotSupported = 3;
inline constexpr NvmlResult kNvmlInsufficientSize = 7;
inline constexpr int kNvmlClockSm = 1;
inline constexpr int kNvmlClockMemory = 2;
inline constexpr int kNvmlTemperatureGpu = 0;
inline constexpr int kNvmlEnabled = 1;              // nvmlEnableState_t
inline constexpr int kNvmlErrorUncorrected = 1;     // nvmlMemoryErrorType_t
inline constexpr int kNvmlCounterVolatile = 0;      // nvmlEccCounterType_t: since the driver was loaded
inline constexpr unsigned kNvmlVersionLength = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE

/// nvmlProcessInfo_t as of version 2 of the structure.
struct NvmlProcess {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

/// nvmlMemory_t: bytes.
struct NvmlMemory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

#define GPUTOMO_NVML_OPTIONAL(ROW)                                                                        \
    ROW(init, "nvmlInit_v2", ())                                                                          \
    ROW(shutdown, "nvmlShutdown", ())                                                                     \
    ROW(driver_version, "nvmlSystemGetDriverVersion", (char*, unsigned))                                  \
    ROW(device_by_uuid, "nvmlDeviceGetHandleByUUID", (const char*, NvmlDevice*))                          \
    ROW(device_by_pci, "nvmlDeviceGetHandleByPciBusId_v2", (const char*, NvmlDevice*))                    \
    ROW(clock_info, "nvmlDeviceGetClockInfo", (NvmlDevice, int, unsigned*))                               \
    ROW(max_clock_info, "nvmlDeviceGetMaxClockInfo", (NvmlDevice, int, unsigned*))                        \
    ROW(memory_info, "nvmlDeviceGetMemoryInfo", (NvmlDevice, NvmlMemory*))                                \
    ROW(persistence_mode, "nvmlDeviceGetPersistenceMode", (NvmlDevice, int*))                             \
    ROW(mig_mode, "nvmlDeviceGetMigMode", (NvmlDevice, unsigned*, unsigned*))                             \
    ROW(compute_mode, "nvmlDeviceGetComputeMode", (NvmlDevice, int*))                                     \
    ROW(event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", (NvmlDevice, unsigned long long*))       \
    ROW(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", (NvmlDevice, unsigned long long*)) \
    ROW(ecc_mode, "nvmlDeviceGetEccMode", (NvmlDevice, int*, int*))                                       \
    ROW(ecc_errors, "nvmlDeviceGetTotalEccErrors", (NvmlDevice, int, int, unsigned long long*))           \
    ROW(temperature, "nvmlDeviceGetTemperature", (NvmlDevice, int, unsigned*))                            \
    ROW(power_usage, "nvmlDeviceGetPowerUsage", (NvmlDevice, unsigned*))                                  \
    ROW(processes, "nvmlDeviceGetComputeRunningProcesses_v3", (NvmlDevice, unsigned*, NvmlProcess*))

struct NvmlFunctions {
#define GPUTOMO_NVML_MEMBER(member, symbol, parameters) NvmlResult(*member) parameters = nullptr;
    GPUTOMO_NVML_OPTIONAL(GPUTOMO_NVML_MEMBER)
#undef GPUTOMO_NVML_MEMBER
};

}  // namespace gputomo::device::cuda::abi
