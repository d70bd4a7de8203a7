// The part of the CUDA driver API that gputomo uses, resolved with dlopen. Declarations follow the driver's public ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gputomo::device::cuda {

using Result = int;
using DevicePointer = std::uint64_t;
using Handle = void*;

struct MemoryLocation {
    int type = 1;  ///< CU_MEM_LOCATION_TYPE_DEVICE
    int id = 0;
};
struct AllocationProperties {
    int type = 1;  ///< CU_MEM_ALLOCATION_TYPE_PINNED
    int requested_handle_types = 0;
    MemoryLocation location;
    void* win32_metadata = nullptr;
    unsigned char flags[8] = {};
};
struct AccessDescription {
    MemoryLocation location;
    int flags = 3;  ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};
struct LinearResource {
    int type = 2;  ///< CU_RESOURCE_TYPE_LINEAR
    int padding = 0;
    DevicePointer pointer = 0;
    int format = 0;
    unsigned channels = 1;
    std::size_t bytes = 0;
    unsigned char rest[104] = {};
    unsigned flags = 0;
    unsigned padding2 = 0;
};
static_assert(sizeof(LinearResource) == 144);
struct TextureDescription {
    int address_mode[3] = {1, 1, 1};  ///< clamp
    int filter_mode = 0;
    unsigned flags = 1;  ///< CU_TRSF_READ_AS_INTEGER
    unsigned rest[21] = {};
};
static_assert(sizeof(TextureDescription) == 104);

/// One line per function: X(member, symbol, parameters).
#define GPUTOMO_CUDA_FUNCTIONS(X)                                                                                              \
    X(init, "cuInit", (unsigned))                                                                                              \
    X(driver_version, "cuDriverGetVersion", (int*))                                                                            \
    X(device_count, "cuDeviceGetCount", (int*))                                                                                \
    X(device_get, "cuDeviceGet", (int*, int))                                                                                  \
    X(device_name, "cuDeviceGetName", (char*, int, int))                                                                       \
    X(device_attribute, "cuDeviceGetAttribute", (int*, int, int))                                                              \
    X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, int))                                                               \
    X(device_bus_id, "cuDeviceGetPCIBusId", (char*, int, int))                                                                 \
    X(context_retain, "cuDevicePrimaryCtxRetain", (Handle*, int))                                                              \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int))                                                                  \
    X(context_set, "cuCtxSetCurrent", (Handle))                                                                                \
    X(error_name, "cuGetErrorName", (Result, const char**))                                                                    \
    X(error_string, "cuGetErrorString", (Result, const char**))                                                                \
    X(allocate, "cuMemAlloc_v2", (DevicePointer*, std::size_t))                                                                \
    X(release, "cuMemFree_v2", (DevicePointer))                                                                                \
    X(copy_to_device, "cuMemcpyHtoD_v2", (DevicePointer, const void*, std::size_t))                                            \
    X(copy_to_host, "cuMemcpyDtoH_v2", (void*, DevicePointer, std::size_t))                                                    \
    X(fill, "cuMemsetD32_v2", (DevicePointer, unsigned, std::size_t))                                                          \
    X(granularity, "cuMemGetAllocationGranularity", (std::size_t*, const AllocationProperties*, int))                          \
    X(reserve, "cuMemAddressReserve", (DevicePointer*, std::size_t, std::size_t, DevicePointer, unsigned long long))           \
    X(unreserve, "cuMemAddressFree", (DevicePointer, std::size_t))                                                             \
    X(create, "cuMemCreate", (unsigned long long*, std::size_t, const AllocationProperties*, unsigned long long))              \
    X(destroy, "cuMemRelease", (unsigned long long))                                                                           \
    X(map, "cuMemMap", (DevicePointer, std::size_t, std::size_t, unsigned long long, unsigned long long))                      \
    X(unmap, "cuMemUnmap", (DevicePointer, std::size_t))                                                                       \
    X(set_access, "cuMemSetAccess", (DevicePointer, std::size_t, const AccessDescription*, std::size_t))                       \
    X(texture_create, "cuTexObjectCreate", (unsigned long long*, const LinearResource*, const TextureDescription*, const void*)) \
    X(texture_destroy, "cuTexObjectDestroy", (unsigned long long))                                                             \
    X(link_create, "cuLinkCreate_v2", (unsigned, int*, void**, Handle*))                                                       \
    X(link_add, "cuLinkAddData_v2", (Handle, int, void*, std::size_t, const char*, unsigned, int*, void**))                    \
    X(link_complete, "cuLinkComplete", (Handle, void**, std::size_t*))                                                         \
    X(link_destroy, "cuLinkDestroy", (Handle))                                                                                 \
    X(module_load, "cuModuleLoadData", (Handle*, const void*))                                                                 \
    X(module_unload, "cuModuleUnload", (Handle))                                                                               \
    X(module_function, "cuModuleGetFunction", (Handle*, Handle, const char*))                                                  \
    X(module_global, "cuModuleGetGlobal_v2", (DevicePointer*, std::size_t*, Handle, const char*))                              \
    X(function_attribute, "cuFuncGetAttribute", (int*, int, Handle))                                                           \
    X(set_function_attribute, "cuFuncSetAttribute", (Handle, int, int))                                                        \
    X(launch, "cuLaunchKernel", (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**)) \
    X(stream_create, "cuStreamCreate", (Handle*, unsigned))                                                                    \
    X(event_create, "cuEventCreate", (Handle*, unsigned))                                                                      \
    X(event_record, "cuEventRecord", (Handle, Handle))                                                                         \
    X(event_query, "cuEventQuery", (Handle))                                                                                   \
    X(event_elapsed, "cuEventElapsedTime", (float*, Handle, Handle))

/// The driver's functions. Throws DeviceError when the library or one of them is missing.
struct Driver {
    explicit Driver(const std::string& library = "libcuda.so.1");
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

#define GPUTOMO_DECLARE(member, symbol, parameters) Result(*member) parameters = nullptr;
    GPUTOMO_CUDA_FUNCTIONS(GPUTOMO_DECLARE)
#undef GPUTOMO_DECLARE

    /// Throws DeviceError "CALL: CUDA_ERROR_X (text)" followed by `about`, unless `result` is 0.
    void check(Result result, const std::string& call, const std::string& about = {}) const;
    [[nodiscard]] std::string text(Result result) const;

private:
    void* library_ = nullptr;
};

}  // namespace gputomo::device::cuda
