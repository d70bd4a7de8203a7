// A CUDA driver and an NVML without a GPU. Device memory is host memory, and kernels do nothing.
//
// PTX declares a kernel by ".entry NAME(" and a variable by ".global NAME;"; PTX with "nonsense" does not compile.
// A kernel takes the parameters up to ")" that are .u64, and a u64 and a u32 where none are declared. Kernels with the
// names of those that measure launches do what they do there.
#include "fake_state.hpp"

#include "device/cuda/abi.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

using namespace gputomo::device::cuda;
using abi::Result;

// FAKE_INCOMPLETE builds a driver without a call that every driver has, FAKE_OLD one without the calls of newer
// drivers.

extern "C" {

fake::State gputomo_fake_state;
}

namespace {

constexpr Result kInvalidPtx = 218;
constexpr Result kOutOfMemory = 2;
constexpr std::size_t kMemory = std::size_t{1} << 30;
constexpr std::size_t kGranularity = 4096;
constexpr std::uint64_t kReserved = 0x7000'0000'0000, kBetweenReserved = 0x1'0000'0000;

fake::State& state = gputomo_fake_state;

/// Guards the state, because several threads may compile.
std::recursive_mutex one_at_a_time;

/// Records a call and returns its result: that of a requested failure, or success.
Result called(const char* name) {
    const std::scoped_lock lock(one_at_a_time);
    ++state.calls;
    return state.failing_call != nullptr && std::strcmp(state.failing_call, name) == 0 ? state.failure : abi::kSuccess;
}

/// A module, which is its PTX, and a link in progress.
struct Program {
    std::string ptx;
    char* error_log = nullptr;
    std::size_t error_log_size = 0;
};

/// All modules and links. Those of a failed device stay, as they do in the real driver.
std::list<Program> programs;

/// Memory behind allocations. A failed device leaves its memory until the context is reset, as in the real driver.
std::map<abi::DevicePointer, std::unique_ptr<char[]>> allocated;

/// Reserved addresses that were asked for, which have memory of the host behind them.
std::vector<abi::DevicePointer> real_memory;

Program* add_program(Program program) { return &programs.emplace_back(std::move(program)); }
void remove_program(const void* which) {
    programs.remove_if([&](const Program& program) { return &program == which; });
}

/// The number of the first line with "nonsense", counted from 1; 0 if there is none.
int wrong_line(const std::string& ptx) {
    const auto at = ptx.find("nonsense");
    if (at == std::string::npos) return 0;
    int line = 1;
    for (std::size_t i = 0; i < at; ++i) line += ptx[i] == '\n' ? 1 : 0;
    return line;
}

template <class Handle>
Handle as_handle(void* object) {
    return reinterpret_cast<Handle>(object);
}
Program& program(void* handle) { return *static_cast<Program*>(handle); }

/// A kernel of a program.
struct FakeKernel {
    std::string name;
    std::vector<std::size_t> sizes;  ///< of its parameters
};
std::list<FakeKernel> kernels;

FakeKernel* kernel_in(const std::string& ptx, const std::string& name) {
    const auto at = ptx.find(".entry " + name + "(");
    if (at == std::string::npos) return nullptr;
    FakeKernel kernel{name, {}};
    const auto end = ptx.find_first_of(")\n", at);
    for (auto from = at; (from = ptx.find(".u64", from + 1)) < end;) kernel.sizes.push_back(8);
    if (kernel.sizes.empty() && ptx[end] != ')') kernel.sizes = {8, 4};
    return &kernels.emplace_back(kernel);
}

std::uint64_t word_at(std::uint64_t address) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
    return word;
}

void write_word(std::uint64_t address, std::uint64_t word) {
    std::memcpy(reinterpret_cast<void*>(address), &word, sizeof word);
}

void write_stamp(std::uint64_t to) {
    const std::uint64_t stamp[] = {state.clock / 2, state.clock, 0};
    std::memcpy(reinterpret_cast<void*>(to), stamp, sizeof stamp);
}

/// What a launch does to the clock and to memory.
void execute(const FakeKernel& kernel, void** extra) {
    std::uint64_t parameters[2] = {};
    if (extra != nullptr)
        std::memcpy(parameters, extra[1], std::min(sizeof parameters, *static_cast<std::size_t*>(extra[3])));
    if (kernel.name == "stamp") return write_stamp(parameters[0]);
    if (kernel.name == "delay") {
        write_stamp(parameters[0]);
        state.clock += parameters[1];
        return write_stamp(parameters[0] + 24);
    }
    if (kernel.name == "empty" || kernel.name == "flush" || kernel.name == "code") {
        state.clock += state.empty_cycles;
        return;
    }
    ++state.launches_of_kernels;
    if (kernel.name == "kills") raise(SIGKILL);
    if (kernel.name == "endless") state.kernels_end = false;
    if (kernel.name == "waits") {
        if (word_at(parameters[0]) != 0) state.kernels_end = false;
        write_word(parameters[0], 1);
    }
    if (kernel.name == "late") {
        if (word_at(parameters[1]) != 0) ++state.launches_of_late_words;
        if (word_at(parameters[0]) != 0) write_word(parameters[1], 1);
        write_word(parameters[0], 1);
    }
    const bool marked = state.work_done && word_at(parameters[0]) != 0;
    state.clock += marked ? state.empty_cycles : state.kernel_cycles;
    if (!state.kernels_count && !state.work_done) return;
    write_word(parameters[0], state.work_done ? 1 : word_at(parameters[0]) + 1);
}

struct ErrorRow {
    Result number;
    const char* name;
    const char* text;
};
constexpr ErrorRow kErrors[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
};

}  // namespace

#define BEGIN(name)                             \
    const std::scoped_lock lock(one_at_a_time); \
    if (const Result result = called(name); result != abi::kSuccess) return result

extern "C" {

Result cuInit(unsigned) {
    BEGIN("cuInit");
    return state.devices == 0 ? abi::kNoDevice : abi::kSuccess;
}
Result cuDriverGetVersion(int* version) {
    BEGIN("cuDriverGetVersion");
    *version = state.driver_version;
    return abi::kSuccess;
}
Result cuGetErrorName(Result error, const char** name) {
    for (const auto& row : kErrors)
        if (row.number == error) return *name = row.name, abi::kSuccess;
    return abi::kInvalidValue;
}
Result cuGetErrorString(Result error, const char** text) {
    for (const auto& row : kErrors)
        if (row.number == error) return *text = row.text, abi::kSuccess;
    return abi::kInvalidValue;
}
Result cuDeviceGetCount(int* count) {
    BEGIN("cuDeviceGetCount");
    *count = state.devices;
    return abi::kSuccess;
}
Result cuDeviceGet(abi::DeviceOrdinal* device, int index) {
    BEGIN("cuDeviceGet");
    *device = index + 40;  // a handle, not the index again
    return abi::kSuccess;
}
Result cuDeviceGetName(char* name, int size, abi::DeviceOrdinal device) {
    BEGIN("cuDeviceGetName");
    std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device - 40);
    return abi::kSuccess;
}
Result cuDeviceGetAttribute(int* value, int attribute, abi::DeviceOrdinal) {
    BEGIN("cuDeviceGetAttribute");
    switch (attribute) {
        case 75: return *value = state.compute_major, abi::kSuccess;
        case 76: return *value = state.compute_minor, abi::kSuccess;
        case 10: return *value = 32, abi::kSuccess;
        case 81: return *value = 100 * 1024, abi::kSuccess;
        case 102: return *value = 1, abi::kSuccess;
        case 111: return *value = 1024, abi::kSuccess;
        default: return abi::kInvalidValue;
    }
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, abi::DeviceOrdinal) {
    BEGIN("cuDeviceTotalMem_v2");
    *bytes = kMemory;
    return abi::kSuccess;
}

Result cuDevicePrimaryCtxRetain(abi::Context* context, abi::DeviceOrdinal) {
    BEGIN("cuDevicePrimaryCtxRetain");
    ++state.contexts;
    *context = as_handle<abi::Context>(&state);
    return abi::kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(abi::DeviceOrdinal) {
    return --state.contexts, called("cuDevicePrimaryCtxRelease_v2");
}
Result cuCtxSetCurrent(abi::Context) { return called("cuCtxSetCurrent"); }

Result cuMemAlloc_v2(abi::DevicePointer* address, std::size_t bytes) {
    BEGIN("cuMemAlloc_v2");
    if (bytes > kMemory) return kOutOfMemory;
    ++state.allocations;
    auto memory = std::make_unique_for_overwrite<char[]>(bytes);
    *address = reinterpret_cast<abi::DevicePointer>(memory.get());
    allocated[*address] = std::move(memory);
    return abi::kSuccess;
}
Result cuMemFree_v2(abi::DevicePointer address) {
    --state.allocations;
    allocated.erase(address);
    return called("cuMemFree_v2");
}
Result cuMemcpyHtoDAsync_v2(abi::DevicePointer to, const void* from, std::size_t bytes, abi::Stream) {
    BEGIN("cuMemcpyHtoDAsync_v2");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return abi::kSuccess;
}
Result cuMemcpyDtoHAsync_v2(void* to, abi::DevicePointer from, std::size_t bytes, abi::Stream) {
    BEGIN("cuMemcpyDtoHAsync_v2");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return abi::kSuccess;
}
Result cuMemsetD32Async(abi::DevicePointer to, unsigned value, std::size_t count, abi::Stream) {
    BEGIN("cuMemsetD32Async");
    for (std::size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<char*>(to) + 4 * i, &value, sizeof(value));
    return abi::kSuccess;
}

Result cuStreamCreate(abi::Stream* stream, unsigned) {
    BEGIN("cuStreamCreate");
    ++state.streams;
    *stream = as_handle<abi::Stream>(&state);
    return abi::kSuccess;
}
Result cuStreamQuery(abi::Stream) { return called("cuStreamQuery"); }
Result cuStreamDestroy_v2(abi::Stream) { return --state.streams, called("cuStreamDestroy_v2"); }
Result cuEventCreate(abi::Event* event, unsigned) {
    BEGIN("cuEventCreate");
    ++state.events;
    *event = as_handle<abi::Event>(&state);
    return abi::kSuccess;
}
Result cuEventRecord(abi::Event, abi::Stream) { return called("cuEventRecord"); }
Result cuEventQuery(abi::Event) {
    BEGIN("cuEventQuery");
    return state.kernels_end ? abi::kSuccess : abi::kNotReady;
}
Result cuEventElapsedTime(float* milliseconds, abi::Event, abi::Event) {
    BEGIN("cuEventElapsedTime");
    *milliseconds = 0.25F;
    return abi::kSuccess;
}
Result cuEventDestroy_v2(abi::Event) { return --state.events, called("cuEventDestroy_v2"); }

Result cuLinkCreate_v2(unsigned count, int* options, void** values, abi::LinkState* link) {
    BEGIN("cuLinkCreate_v2");
    Program* const made = add_program({});
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == abi::kJitErrorLogBuffer) made->error_log = static_cast<char*>(values[i]);
        if (options[i] == abi::kJitErrorLogBufferSize) made->error_log_size = reinterpret_cast<std::size_t>(values[i]);
    }
    ++state.links;
    *link = as_handle<abi::LinkState>(made);
    return abi::kSuccess;
}
Result cuLinkAddData_v2(abi::LinkState link, int, void* data, std::size_t size, const char* name, unsigned, int*,
                        void**) {
    BEGIN("cuLinkAddData_v2");
    auto& linked = program(link);
    linked.ptx.assign(static_cast<const char*>(data), size);
    const int line = wrong_line(linked.ptx);
    if (line == 0) return abi::kSuccess;
    std::snprintf(linked.error_log, linked.error_log_size, "ptxas %s, line %d; error   : Unknown symbol", name, line);
    return kInvalidPtx;
}
#ifndef FAKE_INCOMPLETE
Result cuLinkComplete(abi::LinkState link, void** cubin, std::size_t* size) {
    BEGIN("cuLinkComplete");
    ++state.compiled;
    *cubin = program(link).ptx.data();
    *size = program(link).ptx.size();
    return abi::kSuccess;
}
#endif
Result cuLinkDestroy(abi::LinkState link) {
    const std::scoped_lock lock(one_at_a_time);
    --state.links;
    remove_program(link);
    return called("cuLinkDestroy");
}

Result cuModuleLoadData(abi::Module* module, const void* image) {
    BEGIN("cuModuleLoadData");
    ++state.modules;
    *module = as_handle<abi::Module>(add_program({static_cast<const char*>(image)}));
    return abi::kSuccess;
}
Result cuModuleUnload(abi::Module module) {
    const std::scoped_lock lock(one_at_a_time);
    --state.modules;
    remove_program(module);
    return called("cuModuleUnload");
}
Result cuModuleGetFunction(abi::Function* function, abi::Module module, const char* name) {
    BEGIN("cuModuleGetFunction");
    FakeKernel* const kernel = kernel_in(program(module).ptx, name);
    *function = as_handle<abi::Function>(kernel);
    return kernel == nullptr ? abi::kNotFound : abi::kSuccess;
}
Result cuModuleGetGlobal_v2(abi::DevicePointer* address, std::size_t* bytes, abi::Module module, const char* name) {
    BEGIN("cuModuleGetGlobal_v2");
    *address = 0x1000;
    *bytes = 64;
    return program(module).ptx.find(".global " + std::string(name) + ";") == std::string::npos ? abi::kNotFound
                                                                                               : abi::kSuccess;
}
Result cuFuncGetAttribute(int* value, int attribute, abi::Function) {
    BEGIN("cuFuncGetAttribute");
    switch (attribute) {
        case abi::kFunctionMaxThreadsPerBlock: *value = 1024; break;
        case abi::kFunctionSharedSize: *value = 512; break;
        case abi::kFunctionLocalSize: *value = 16; break;
        case abi::kFunctionRegisters: *value = 24; break;
        case abi::kFunctionMaxDynamicShared: *value = 48 * 1024 - 512; break;
        default: return abi::kInvalidValue;
    }
    return abi::kSuccess;
}
Result cuFuncSetAttribute(abi::Function, int attribute, int value) {
    BEGIN("cuFuncSetAttribute");
    (attribute == abi::kFunctionMaxDynamicShared ? state.dynamic_shared_allowed
     : attribute == abi::kFunctionLargeClusters  ? state.large_clusters
                                                 : state.carveout) = value;
    return abi::kSuccess;
}
Result cuLaunchKernel(abi::Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      abi::Stream, void**, void** extra) {
    BEGIN("cuLaunchKernel");
    state.launched_bytes = extra == nullptr ? 0 : *static_cast<std::size_t*>(extra[3]);
    const auto& kernel = *reinterpret_cast<const FakeKernel*>(function);
    if (kernel.name != "chase") execute(kernel, extra);
    return abi::kSuccess;
}
Result cuTexObjectCreate(abi::TextureObject* texture, const abi::ResourceDescription*, const abi::TextureDescription*,
                         const void*) {
    BEGIN("cuTexObjectCreate");
    *texture = static_cast<abi::TextureObject>(++state.textures);
    return abi::kSuccess;
}
Result cuTexObjectDestroy(abi::TextureObject) { return --state.textures, called("cuTexObjectDestroy"); }

#ifndef FAKE_OLD
Result cuDeviceGetUuid(abi::Uuid* uuid, abi::DeviceOrdinal) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<unsigned char>(i);
    return called("cuDeviceGetUuid");
}
Result cuDeviceGetPCIBusId(char* text, int size, abi::DeviceOrdinal) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:3b:00.0");
    return called("cuDeviceGetPCIBusId");
}
Result cuFuncGetParamInfo(abi::Function function, std::size_t index, std::size_t* offset, std::size_t* size) {
    const auto& sizes = reinterpret_cast<const FakeKernel*>(function)->sizes;
    if (index >= sizes.size()) return abi::kInvalidValue;
    *offset = 8 * index;
    *size = sizes[index];
    return called("cuFuncGetParamInfo");
}
Result cuMemGetAllocationGranularity(std::size_t* bytes, const abi::AllocationProperties*, int) {
    *bytes = kGranularity;
    return called("cuMemGetAllocationGranularity");
}
Result cuMemAddressReserve(abi::DevicePointer* address, std::size_t bytes, std::size_t, abi::DevicePointer wanted,
                           unsigned long long) {
    BEGIN("cuMemAddressReserve");
    if (wanted != 0) {
        void* const place = reinterpret_cast<void*>(wanted == state.taken ? state.instead : wanted);
        void* const made = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ++state.reservations;
        *address = reinterpret_cast<abi::DevicePointer>(made);
        real_memory.push_back(*address);
        return abi::kSuccess;
    }
    *address = kReserved + static_cast<std::uint64_t>(state.reservations++) * kBetweenReserved;
    return abi::kSuccess;
}
Result cuMemAddressFree(abi::DevicePointer address, std::size_t bytes) {
    --state.reservations;
    if (std::erase(real_memory, address) != 0) munmap(reinterpret_cast<void*>(address), bytes);
    return called("cuMemAddressFree");
}
Result cuMemHostRegister_v2(void*, std::size_t, unsigned) {
    BEGIN("cuMemHostRegister_v2");
    ++state.host_registered;
    return abi::kSuccess;
}
Result cuMemHostUnregister(void*) { return --state.host_registered, called("cuMemHostUnregister"); }
Result cuLaunchKernelEx(const abi::LaunchConfiguration* configuration, abi::Function function, void**, void** extra) {
    BEGIN("cuLaunchKernelEx");
    for (unsigned i = 0; i < configuration->attribute_count; ++i) {
        const auto& attribute = configuration->attributes[i];
        if (attribute.id == abi::kLaunchCooperative) state.cooperative = attribute.value.cooperative;
        if (attribute.id == abi::kLaunchCluster)
            std::copy(std::begin(attribute.value.cluster), std::end(attribute.value.cluster), state.cluster);
    }
    execute(*reinterpret_cast<const FakeKernel*>(function), extra);
    return abi::kSuccess;
}
Result cuDevicePrimaryCtxReset_v2(abi::DeviceOrdinal) {
    ++state.context_resets;
    allocated.clear();
    --state.contexts;
    return called("cuDevicePrimaryCtxReset_v2");
}
Result cuMemCreate(abi::AllocationHandle* handle, std::size_t, const abi::AllocationProperties*, unsigned long long) {
    BEGIN("cuMemCreate");
    ++state.physical;
    *handle = 7;
    return abi::kSuccess;
}
Result cuMemRelease(abi::AllocationHandle) { return --state.physical, called("cuMemRelease"); }
Result cuMemMap(abi::DevicePointer, std::size_t, std::size_t, abi::AllocationHandle, unsigned long long) {
    BEGIN("cuMemMap");
    ++state.mappings;
    return abi::kSuccess;
}
Result cuMemUnmap(abi::DevicePointer, std::size_t) { return --state.mappings, called("cuMemUnmap"); }
Result cuMemSetAccess(abi::DevicePointer, std::size_t, const abi::AccessDescription*, std::size_t) {
    return called("cuMemSetAccess");
}
#endif

abi::NvmlResult nvmlInit_v2() { return called("nvmlInit_v2"); }
abi::NvmlResult nvmlShutdown() { return 0; }
abi::NvmlResult nvmlDeviceGetHandleByUUID(const char* uuid, abi::NvmlDevice* device) {
    *device = as_handle<abi::NvmlDevice>(&state);
    return std::strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") == 0 ? called("nvmlDeviceGetHandleByUUID") : 2;
}
abi::NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* bus, abi::NvmlDevice* device) {
    *device = as_handle<abi::NvmlDevice>(&state);
    return std::strcmp(bus, "0000:3b:00.0") == 0 ? called("nvmlDeviceGetHandleByPciBusId_v2") : 2;
}
abi::NvmlResult nvmlDeviceGetClockInfo(abi::NvmlDevice, int domain, unsigned* mhz) {
    *mhz = domain == abi::kNvmlClockSm ? 1980 : 2619;
    return called("nvmlDeviceGetClockInfo");
}
#ifndef FAKE_OLD
abi::NvmlResult nvmlDeviceGetMaxClockInfo(abi::NvmlDevice, int domain, unsigned* mhz) {
    *mhz = domain == abi::kNvmlClockSm ? 1980 : 3201;
    return called("nvmlDeviceGetMaxClockInfo");
}
abi::NvmlResult nvmlDeviceGetMemoryInfo(abi::NvmlDevice, abi::NvmlMemory* memory) {
    *memory = {64ULL << 30, state.free_memory, (64ULL << 30) - state.free_memory};
    return called("nvmlDeviceGetMemoryInfo");
}
abi::NvmlResult nvmlDeviceGetPersistenceMode(abi::NvmlDevice, int* mode) {
    *mode = state.persistence;
    return called("nvmlDeviceGetPersistenceMode");
}
abi::NvmlResult nvmlDeviceGetMigMode(abi::NvmlDevice, unsigned* current, unsigned* pending) {
    *current = *pending = state.mig;
    return state.mig_result;
}
abi::NvmlResult nvmlDeviceGetComputeMode(abi::NvmlDevice, int* mode) {
    *mode = state.compute_mode;
    return called("nvmlDeviceGetComputeMode");
}
#endif
abi::NvmlResult nvmlSystemGetDriverVersion(char* text, unsigned size) {
    std::snprintf(text, size, "570.86.15");
    return called("nvmlSystemGetDriverVersion");
}
#ifdef FAKE_OLD
abi::NvmlResult nvmlDeviceGetCurrentClocksThrottleReasons(abi::NvmlDevice, unsigned long long* reasons) {
    *reasons = state.throttle_reasons;
    return called("nvmlDeviceGetCurrentClocksThrottleReasons");
}
#else
abi::NvmlResult nvmlDeviceGetCurrentClocksEventReasons(abi::NvmlDevice, unsigned long long* reasons) {
    *reasons = state.throttle_reasons;
    return called("nvmlDeviceGetCurrentClocksEventReasons");
}
#endif
abi::NvmlResult nvmlDeviceGetEccMode(abi::NvmlDevice, int* current, int* pending) {
    *current = *pending = state.ecc_enabled ? 1 : 0;
    return called("nvmlDeviceGetEccMode");
}
abi::NvmlResult nvmlDeviceGetTotalEccErrors(abi::NvmlDevice, int type, int counter, unsigned long long* errors) {
    *errors = type == abi::kNvmlErrorUncorrected && counter == abi::kNvmlCounterVolatile ? state.ecc_errors : 1000;
    return called("nvmlDeviceGetTotalEccErrors");
}
abi::NvmlResult nvmlDeviceGetTemperature(abi::NvmlDevice, int, unsigned* celsius) {
    *celsius = 41;
    return called("nvmlDeviceGetTemperature");
}
abi::NvmlResult nvmlDeviceGetPowerUsage(abi::NvmlDevice, unsigned* milliwatt) {
    *milliwatt = 123'500;
    return called("nvmlDeviceGetPowerUsage");
}
abi::NvmlResult nvmlDeviceGetComputeRunningProcesses_v3(abi::NvmlDevice, unsigned* count, abi::NvmlProcess* list) {
    BEGIN("nvmlDeviceGetComputeRunningProcesses_v3");
    const bool after = state.contexts > 0;
    const auto there = static_cast<unsigned>(after ? state.count_after : state.count_before);
    for (unsigned i = 0; i < there && i < *count; ++i)
        list[i].pid = after ? state.processes_after[i] : state.processes_before[i];
    *count = there;
    return abi::kSuccess;
}

}  // extern "C"
