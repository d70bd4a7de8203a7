// The interposed entry points. Each calls the driver's function of the same name with the same arguments and returns
// its result; what it records is beside that.
#include "capture/interposer/hook.hpp"
#include "capture/interposer/recorder.hpp"

#include <memory>
#include <span>

namespace gputomo::capture {

/// What a program gets that asked cuGetProcAddress and would get `found` (lookup.cpp).
void* replacement_of(const char* name, void* found, int version, std::uint64_t flags);

namespace {

template <auto* Replacement, class... Arguments>
abi::Result driver_of(Arguments... arguments) {
    return Behind<Replacement>::call(arguments...);
}

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

abi::Result allocated(abi::Result result, const abi::DevicePointer* address, std::uint64_t bytes) {
    if (result == abi::kSuccess && recorder().active())
        recorder().memory().add({*address, bytes, Space::device, true, {}});
    return result;
}
abi::Result host_allocated(abi::Result result, void* const* address, std::uint64_t bytes) {
    if (result == abi::kSuccess && recorder().active())
        recorder().memory().add({number(*address), bytes, Space::host, true, {}});
    return result;
}

/// Stream 0 of the variants for which it is the thread's own.
abi::Stream own(abi::Stream stream) { return stream == abi::kLegacyStream ? abi::kThreadStream : stream; }

template <class Owner>
abi::Result loaded(abi::Result result, Owner* owner, std::shared_ptr<Image> (*make)(const void*), const void* code) {
    if (result == abi::kSuccess && recorder().active()) recorder().code().loaded(*owner, make(code));
    return result;
}
std::shared_ptr<Image> image_of(const void* code) { return Image::of(code); }
std::shared_ptr<Image> image_of_file(const void* path) { return Image::of_file(static_cast<const char*>(path)); }

abi::Result synchronized(abi::Result result) {
    if (recorder().active()) recorder().timing().write_finished();
    return result;
}

void variable(abi::Result result, const abi::DevicePointer* address, const std::size_t* bytes, const char* name) {
    if (result == abi::kSuccess && address != nullptr && bytes != nullptr && recorder().active())
        recorder().memory().add({*address, *bytes, Space::variable, true, name});
}

Launch launch_of(abi::Function function, unsigned shared_bytes, abi::Stream stream, void** parameters, void** extra) {
    Launch launch;
    launch.kernel = function;
    launch.shared_bytes = shared_bytes;
    launch.stream = stream;
    launch.parameters = parameters;
    launch.extra = extra;
    return launch;
}

Launch launch_of(const abi::LaunchConfiguration& config, abi::Function function, void** parameters, void** extra) {
    Launch launch = launch_of(function, config.shared_bytes, config.stream, parameters, extra);
    launch.set_grid(config.grid[0], config.grid[1], config.grid[2]);
    launch.set_block(config.block[0], config.block[1], config.block[2]);
    launch.set_attributes(config.attributes, config.attribute_count);
    return launch;
}

abi::Result instantiated(abi::Result result, const abi::GraphExec* exec, abi::Graph graph) {
    if (result == abi::kSuccess && recorder().active())
        recorder().graphs().instantiated(*exec, graph, recorder().code());
    return result;
}

/// Whether a CUDA_RESOURCE_VIEW_DESC reads texels in a format that their memory does not have.
bool has_format(const void* view) { return view != nullptr && *static_cast<const int*>(view) != 0; }

/// Events and streams of a context are unusable once it is gone.
void before_contexts_end() {
    if (recorder().active()) recorder().leave_contexts();
}

}  // namespace
}  // namespace gputomo::capture

using namespace gputomo::capture;
using abi::Result;

#define GPUTOMO_EXPORT extern "C" __attribute__((visibility("default"))) Result

// Finding entry points -----------------------------------------------------------------------------------------------

GPUTOMO_EXPORT cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
    const Result result = driver_of<&cuGetProcAddress>(name, function, version, flags);
    if (result == abi::kSuccess && function != nullptr && *function != nullptr)
        *function = replacement_of(name, *function, version, flags);
    return result;
}
GPUTOMO_EXPORT cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status) {
    const Result result = driver_of<&cuGetProcAddress_v2>(name, function, version, flags, status);
    if (result == abi::kSuccess && function != nullptr && *function != nullptr)
        *function = replacement_of(name, *function, version, flags);
    return result;
}

// Modules and libraries ----------------------------------------------------------------------------------------------

GPUTOMO_EXPORT cuModuleLoad(abi::Module* module, const char* path) {
    return loaded(driver_of<&cuModuleLoad>(module, path), module, image_of_file, path);
}
GPUTOMO_EXPORT cuModuleLoadData(abi::Module* module, const void* code) {
    return loaded(driver_of<&cuModuleLoadData>(module, code), module, image_of, code);
}
GPUTOMO_EXPORT cuModuleLoadDataEx(abi::Module* module, const void* code, unsigned count, int* options, void** values) {
    return loaded(driver_of<&cuModuleLoadDataEx>(module, code, count, options, values), module, image_of, code);
}
GPUTOMO_EXPORT cuModuleLoadFatBinary(abi::Module* module, const void* code) {
    return loaded(driver_of<&cuModuleLoadFatBinary>(module, code), module, image_of, code);
}
GPUTOMO_EXPORT cuModuleUnload(abi::Module module) {
    if (recorder().active()) recorder().code().unloaded(module);
    return driver_of<&cuModuleUnload>(module);
}
GPUTOMO_EXPORT cuModuleGetFunction(abi::Function* function, abi::Module module, const char* name) {
    const Result result = driver_of<&cuModuleGetFunction>(function, module, name);
    if (result == abi::kSuccess && recorder().active()) recorder().code().kernel(*function, module, name, false);
    return result;
}
GPUTOMO_EXPORT cuModuleEnumerateFunctions(abi::Function* functions, unsigned count, abi::Module module) {
    const Result result = driver_of<&cuModuleEnumerateFunctions>(functions, count, module);
    for (unsigned i = 0; result == abi::kSuccess && recorder().active() && i < count; ++i)
        recorder().code().kernel(functions[i], module, {}, false);
    return result;
}
GPUTOMO_EXPORT cuModuleGetGlobal_v2(abi::DevicePointer* address, std::size_t* bytes, abi::Module module,
                                    const char* name) {
    const Result result = driver_of<&cuModuleGetGlobal_v2>(address, bytes, module, name);
    variable(result, address, bytes, name);
    return result;
}
GPUTOMO_EXPORT cuLibraryLoadData(abi::Library* library, const void* code, int* jit, void** jit_values,
                                 unsigned jit_count, int* options, void** values, unsigned count) {
    return loaded(driver_of<&cuLibraryLoadData>(library, code, jit, jit_values, jit_count, options, values, count),
                  library, image_of, code);
}
GPUTOMO_EXPORT cuLibraryLoadFromFile(abi::Library* library, const char* path, int* jit, void** jit_values,
                                     unsigned jit_count, int* options, void** values, unsigned count) {
    return loaded(driver_of<&cuLibraryLoadFromFile>(library, path, jit, jit_values, jit_count, options, values, count),
                  library, image_of_file, path);
}
GPUTOMO_EXPORT cuLibraryUnload(abi::Library library) {
    if (recorder().active()) recorder().code().unloaded(library);
    return driver_of<&cuLibraryUnload>(library);
}
GPUTOMO_EXPORT cuLibraryGetKernel(abi::Kernel* kernel, abi::Library library, const char* name) {
    const Result result = driver_of<&cuLibraryGetKernel>(kernel, library, name);
    if (result == abi::kSuccess && recorder().active()) recorder().code().kernel(*kernel, library, name, true);
    return result;
}
GPUTOMO_EXPORT cuLibraryEnumerateKernels(abi::Kernel* kernels, unsigned count, abi::Library library) {
    const Result result = driver_of<&cuLibraryEnumerateKernels>(kernels, count, library);
    for (unsigned i = 0; result == abi::kSuccess && recorder().active() && i < count; ++i)
        recorder().code().kernel(kernels[i], library, {}, true);
    return result;
}
GPUTOMO_EXPORT cuLibraryGetModule(abi::Module* module, abi::Library library) {
    const Result result = driver_of<&cuLibraryGetModule>(module, library);
    if (result == abi::kSuccess && recorder().active()) recorder().code().also(*module, library);
    return result;
}
GPUTOMO_EXPORT cuLibraryGetGlobal(abi::DevicePointer* address, std::size_t* bytes, abi::Library library,
                                  const char* name) {
    const Result result = driver_of<&cuLibraryGetGlobal>(address, bytes, library, name);
    variable(result, address, bytes, name);
    return result;
}
GPUTOMO_EXPORT cuKernelGetFunction(abi::Function* function, abi::Kernel kernel) {
    const Result result = driver_of<&cuKernelGetFunction>(function, kernel);
    if (result == abi::kSuccess && recorder().active()) recorder().code().function_of(*function, kernel);
    return result;
}

// Launches -----------------------------------------------------------------------------------------------------------

#define GPUTOMO_LAUNCH_KERNEL(symbol, stream_of)                                                                       \
    GPUTOMO_EXPORT symbol(abi::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, abi::Stream stream,               \
                          void** parameters, void** extra) {                                                           \
        Launch launch = launch_of(function, shared_bytes, stream_of(stream), parameters, extra);                       \
        launch.set_grid(grid_x, grid_y, grid_z);                                                                       \
        launch.set_block(block_x, block_y, block_z);                                                                   \
        return recorder().around(launch, [&] {                                                                         \
            return driver_of<&symbol>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,       \
                                      stream, parameters, extra);                                                      \
        });                                                                                                            \
    }
GPUTOMO_LAUNCH_KERNEL(cuLaunchKernel, )
GPUTOMO_LAUNCH_KERNEL(cuLaunchKernel_ptsz, own)

#define GPUTOMO_LAUNCH_KERNEL_EX(symbol, stream_of)                                                                \
    GPUTOMO_EXPORT symbol(const abi::LaunchConfiguration* config, abi::Function function, void** parameters,       \
                          void** extra) {                                                                          \
        Launch launch = launch_of(*config, function, parameters, extra);                                           \
        launch.stream = stream_of(launch.stream);                                                                  \
        return recorder().around(launch, [&] { return driver_of<&symbol>(config, function, parameters, extra); }); \
    }
GPUTOMO_LAUNCH_KERNEL_EX(cuLaunchKernelEx, )
GPUTOMO_LAUNCH_KERNEL_EX(cuLaunchKernelEx_ptsz, own)

#define GPUTOMO_LAUNCH_COOPERATIVE(symbol, stream_of)                                                                  \
    GPUTOMO_EXPORT symbol(abi::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, abi::Stream stream,               \
                          void** parameters) {                                                                         \
        Launch launch = launch_of(function, shared_bytes, stream_of(stream), parameters, nullptr);                     \
        launch.set_grid(grid_x, grid_y, grid_z);                                                                       \
        launch.set_block(block_x, block_y, block_z);                                                                   \
        launch.cooperative = true;                                                                                     \
        return recorder().around(launch, [&] {                                                                         \
            return driver_of<&symbol>(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,       \
                                      stream, parameters);                                                             \
        });                                                                                                            \
    }
GPUTOMO_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, )
GPUTOMO_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, own)

// Graphs -------------------------------------------------------------------------------------------------------------

GPUTOMO_EXPORT cuGraphInstantiate(abi::GraphExec* exec, abi::Graph graph, abi::GraphNode* node, char* log,
                                  std::size_t size) {
    return instantiated(driver_of<&cuGraphInstantiate>(exec, graph, node, log, size), exec, graph);
}
GPUTOMO_EXPORT cuGraphInstantiate_v2(abi::GraphExec* exec, abi::Graph graph, abi::GraphNode* node, char* log,
                                     std::size_t size) {
    return instantiated(driver_of<&cuGraphInstantiate_v2>(exec, graph, node, log, size), exec, graph);
}
GPUTOMO_EXPORT cuGraphInstantiateWithFlags(abi::GraphExec* exec, abi::Graph graph, unsigned long long flags) {
    return instantiated(driver_of<&cuGraphInstantiateWithFlags>(exec, graph, flags), exec, graph);
}
GPUTOMO_EXPORT cuGraphInstantiateWithParams(abi::GraphExec* exec, abi::Graph graph, void* parameters) {
    return instantiated(driver_of<&cuGraphInstantiateWithParams>(exec, graph, parameters), exec, graph);
}
GPUTOMO_EXPORT cuGraphInstantiateWithParams_ptsz(abi::GraphExec* exec, abi::Graph graph, void* parameters) {
    return instantiated(driver_of<&cuGraphInstantiateWithParams_ptsz>(exec, graph, parameters), exec, graph);
}
GPUTOMO_EXPORT cuGraphExecUpdate(abi::GraphExec exec, abi::Graph graph, abi::GraphNode* node, int* outcome) {
    return instantiated(driver_of<&cuGraphExecUpdate>(exec, graph, node, outcome), &exec, graph);
}
GPUTOMO_EXPORT cuGraphExecUpdate_v2(abi::GraphExec exec, abi::Graph graph, void* outcome) {
    return instantiated(driver_of<&cuGraphExecUpdate_v2>(exec, graph, outcome), &exec, graph);
}
GPUTOMO_EXPORT cuGraphExecKernelNodeSetParams(abi::GraphExec exec, abi::GraphNode node,
                                              const abi::KernelNodeParameters* parameters) {
    const Result result = driver_of<&cuGraphExecKernelNodeSetParams>(exec, node, parameters);
    if (result == abi::kSuccess && recorder().active())
        recorder().graphs().changed(exec, node, *parameters, false, recorder().code());
    return result;
}
GPUTOMO_EXPORT cuGraphExecKernelNodeSetParams_v2(abi::GraphExec exec, abi::GraphNode node,
                                                 const abi::KernelNodeParameters* parameters) {
    const Result result = driver_of<&cuGraphExecKernelNodeSetParams_v2>(exec, node, parameters);
    if (result == abi::kSuccess && recorder().active())
        recorder().graphs().changed(exec, node, *parameters, true, recorder().code());
    return result;
}
GPUTOMO_EXPORT cuGraphExecNodeSetParams(abi::GraphExec exec, abi::GraphNode node,
                                        abi::GraphNodeParameters* parameters) {
    const Result result = driver_of<&cuGraphExecNodeSetParams>(exec, node, parameters);
    if (result == abi::kSuccess && parameters->type == abi::kNodeKernel && recorder().active())
        recorder().graphs().changed(exec, node, parameters->kernel, true, recorder().code());
    return result;
}
GPUTOMO_EXPORT cuGraphExecDestroy(abi::GraphExec exec) {
    if (recorder().active()) recorder().graphs().destroyed(exec);
    return driver_of<&cuGraphExecDestroy>(exec);
}
GPUTOMO_EXPORT cuGraphLaunch(abi::GraphExec exec, abi::Stream stream) {
    return recorder().around_graph(exec, stream, [&] { return driver_of<&cuGraphLaunch>(exec, stream); });
}
GPUTOMO_EXPORT cuGraphLaunch_ptsz(abi::GraphExec exec, abi::Stream stream) {
    return recorder().around_graph(exec, own(stream), [&] { return driver_of<&cuGraphLaunch_ptsz>(exec, stream); });
}

// Memory -------------------------------------------------------------------------------------------------------------

GPUTOMO_EXPORT cuMemAlloc_v2(abi::DevicePointer* address, std::size_t bytes) {
    return allocated(driver_of<&cuMemAlloc_v2>(address, bytes), address, bytes);
}
GPUTOMO_EXPORT cuMemAllocPitch_v2(abi::DevicePointer* address, std::size_t* pitch, std::size_t width,
                                  std::size_t height, unsigned element) {
    const Result result = driver_of<&cuMemAllocPitch_v2>(address, pitch, width, height, element);
    return allocated(result, address, result == abi::kSuccess ? *pitch * height : 0);
}
GPUTOMO_EXPORT cuMemAllocManaged(abi::DevicePointer* address, std::size_t bytes, unsigned flags) {
    return allocated(driver_of<&cuMemAllocManaged>(address, bytes, flags), address, bytes);
}
GPUTOMO_EXPORT cuMemFree_v2(abi::DevicePointer address) {
    if (recorder().active()) recorder().memory().remove(address);
    return driver_of<&cuMemFree_v2>(address);
}
#define GPUTOMO_POOLS(suffix)                                                                                        \
    GPUTOMO_EXPORT cuMemAllocAsync##suffix(abi::DevicePointer* address, std::size_t bytes, abi::Stream stream) {     \
        return allocated(driver_of<&cuMemAllocAsync##suffix>(address, bytes, stream), address, bytes);               \
    }                                                                                                                \
    GPUTOMO_EXPORT cuMemAllocFromPoolAsync##suffix(abi::DevicePointer* address, std::size_t bytes,                   \
                                                   abi::MemoryPool pool, abi::Stream stream) {                       \
        return allocated(driver_of<&cuMemAllocFromPoolAsync##suffix>(address, bytes, pool, stream), address, bytes); \
    }                                                                                                                \
    GPUTOMO_EXPORT cuMemFreeAsync##suffix(abi::DevicePointer address, abi::Stream stream) {                          \
        if (recorder().active()) recorder().memory().remove(address);                                                \
        return driver_of<&cuMemFreeAsync##suffix>(address, stream);                                                  \
    }
GPUTOMO_POOLS()
GPUTOMO_POOLS(_ptsz)
GPUTOMO_EXPORT cuMemAllocHost_v2(void** address, std::size_t bytes) {
    return host_allocated(driver_of<&cuMemAllocHost_v2>(address, bytes), address, bytes);
}
GPUTOMO_EXPORT cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
    return host_allocated(driver_of<&cuMemHostAlloc>(address, bytes, flags), address, bytes);
}
GPUTOMO_EXPORT cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
    return host_allocated(driver_of<&cuMemHostRegister_v2>(address, bytes, flags), &address, bytes);
}
GPUTOMO_EXPORT cuMemHostUnregister(void* address) {
    if (recorder().active()) recorder().memory().remove(number(address));
    return driver_of<&cuMemHostUnregister>(address);
}
GPUTOMO_EXPORT cuMemFreeHost(void* address) {
    if (recorder().active()) recorder().memory().remove(number(address));
    return driver_of<&cuMemFreeHost>(address);
}
GPUTOMO_EXPORT cuMemMap(abi::DevicePointer address, std::size_t bytes, std::size_t offset, abi::AllocationHandle handle,
                        unsigned long long flags) {
    const Result result = driver_of<&cuMemMap>(address, bytes, offset, handle, flags);
    if (result == abi::kSuccess && recorder().active())
        recorder().memory().add({address, bytes, Space::mapped, false, {}});
    return result;
}
GPUTOMO_EXPORT cuMemSetAccess(abi::DevicePointer address, std::size_t bytes, const abi::AccessDescription* access,
                              std::size_t count) {
    const Result result = driver_of<&cuMemSetAccess>(address, bytes, access, count);
    if (result == abi::kSuccess && recorder().active()) recorder().memory().make_accessible(address, bytes);
    return result;
}
GPUTOMO_EXPORT cuMemUnmap(abi::DevicePointer address, std::size_t bytes) {
    if (recorder().active()) recorder().memory().unmap(address, bytes);
    return driver_of<&cuMemUnmap>(address, bytes);
}

// Textures -----------------------------------------------------------------------------------------------------------

GPUTOMO_EXPORT cuTexObjectCreate(abi::TextureObject* texture, const abi::ResourceDescription* resource,
                                 const abi::TextureDescription* description, const void* view) {
    const Result result = driver_of<&cuTexObjectCreate>(texture, resource, description, view);
    if (result == abi::kSuccess && recorder().active())
        recorder().textures().created(*texture, *resource, *description, has_format(view));
    return result;
}
GPUTOMO_EXPORT cuTexObjectDestroy(abi::TextureObject texture) {
    if (recorder().active()) recorder().textures().destroyed(texture);
    return driver_of<&cuTexObjectDestroy>(texture);
}

// Order and waiting --------------------------------------------------------------------------------------------------

#define GPUTOMO_ORDER(suffix, stream_of)                                                                  \
    GPUTOMO_EXPORT cuEventRecord##suffix(abi::Event event, abi::Stream stream) {                          \
        if (recorder().active()) recorder().streams().recorded(event, stream_of(stream));                 \
        return driver_of<&cuEventRecord##suffix>(event, stream);                                          \
    }                                                                                                     \
    GPUTOMO_EXPORT cuEventRecordWithFlags##suffix(abi::Event event, abi::Stream stream, unsigned flags) { \
        if (recorder().active()) recorder().streams().recorded(event, stream_of(stream));                 \
        return driver_of<&cuEventRecordWithFlags##suffix>(event, stream, flags);                          \
    }                                                                                                     \
    GPUTOMO_EXPORT cuStreamWaitEvent##suffix(abi::Stream stream, abi::Event event, unsigned flags) {      \
        if (recorder().active()) recorder().streams().waits(stream_of(stream), event);                    \
        return driver_of<&cuStreamWaitEvent##suffix>(stream, event, flags);                               \
    }                                                                                                     \
    GPUTOMO_EXPORT cuStreamSynchronize##suffix(abi::Stream stream) {                                      \
        return synchronized(driver_of<&cuStreamSynchronize##suffix>(stream));                             \
    }
GPUTOMO_ORDER(, )
GPUTOMO_ORDER(_ptsz, own)
GPUTOMO_EXPORT cuCtxSynchronize() { return synchronized(driver_of<&cuCtxSynchronize>()); }
GPUTOMO_EXPORT cuEventSynchronize(abi::Event event) { return synchronized(driver_of<&cuEventSynchronize>(event)); }
GPUTOMO_EXPORT cuCtxDestroy_v2(abi::Context context) {
    before_contexts_end();
    return driver_of<&cuCtxDestroy_v2>(context);
}
GPUTOMO_EXPORT cuDevicePrimaryCtxReset_v2(abi::DeviceOrdinal device) {
    before_contexts_end();
    return driver_of<&cuDevicePrimaryCtxReset_v2>(device);
}
GPUTOMO_EXPORT cuDevicePrimaryCtxRelease_v2(abi::DeviceOrdinal device) {
    before_contexts_end();
    return driver_of<&cuDevicePrimaryCtxRelease_v2>(device);
}

// The table ----------------------------------------------------------------------------------------------------------

namespace gputomo::capture {
namespace {

constexpr bool kAnyThread = false, kOwnStream = true;

#define GPUTOMO_HOOK(symbol, name, since, per_thread) \
    { #symbol, name, since, per_thread, reinterpret_cast < void*>(&symbol), &Behind < &symbol> ::replaced }

const Hook kHooks[] = {
    GPUTOMO_HOOK(cuGetProcAddress, "cuGetProcAddress", 11030, kAnyThread),
    GPUTOMO_HOOK(cuGetProcAddress_v2, "cuGetProcAddress", 12000, kAnyThread),
    GPUTOMO_HOOK(cuModuleLoad, "cuModuleLoad", 2000, kAnyThread),
    GPUTOMO_HOOK(cuModuleLoadData, "cuModuleLoadData", 2000, kAnyThread),
    GPUTOMO_HOOK(cuModuleLoadDataEx, "cuModuleLoadDataEx", 2010, kAnyThread),
    GPUTOMO_HOOK(cuModuleLoadFatBinary, "cuModuleLoadFatBinary", 2000, kAnyThread),
    GPUTOMO_HOOK(cuModuleUnload, "cuModuleUnload", 2000, kAnyThread),
    GPUTOMO_HOOK(cuModuleGetFunction, "cuModuleGetFunction", 2000, kAnyThread),
    GPUTOMO_HOOK(cuModuleEnumerateFunctions, "cuModuleEnumerateFunctions", 12040, kAnyThread),
    GPUTOMO_HOOK(cuModuleGetGlobal_v2, "cuModuleGetGlobal", 3020, kAnyThread),
    GPUTOMO_HOOK(cuLibraryLoadData, "cuLibraryLoadData", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLibraryLoadFromFile, "cuLibraryLoadFromFile", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLibraryUnload, "cuLibraryUnload", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLibraryGetKernel, "cuLibraryGetKernel", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLibraryEnumerateKernels, "cuLibraryEnumerateKernels", 12040, kAnyThread),
    GPUTOMO_HOOK(cuLibraryGetModule, "cuLibraryGetModule", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLibraryGetGlobal, "cuLibraryGetGlobal", 12000, kAnyThread),
    GPUTOMO_HOOK(cuKernelGetFunction, "cuKernelGetFunction", 12000, kAnyThread),
    GPUTOMO_HOOK(cuLaunchKernel, "cuLaunchKernel", 4000, kAnyThread),
    GPUTOMO_HOOK(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, kOwnStream),
    GPUTOMO_HOOK(cuLaunchKernelEx, "cuLaunchKernelEx", 11060, kAnyThread),
    GPUTOMO_HOOK(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060, kOwnStream),
    GPUTOMO_HOOK(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, kAnyThread),
    GPUTOMO_HOOK(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, kOwnStream),
    GPUTOMO_HOOK(cuGraphInstantiate, "cuGraphInstantiate", 10000, kAnyThread),
    GPUTOMO_HOOK(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000, kAnyThread),
    GPUTOMO_HOOK(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040, kAnyThread),
    // From CUDA 12 on the short name means the variant with flags.
    GPUTOMO_HOOK(cuGraphInstantiateWithFlags, "cuGraphInstantiate", 12000, kAnyThread),
    GPUTOMO_HOOK(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams", 12000, kAnyThread),
    GPUTOMO_HOOK(cuGraphInstantiateWithParams_ptsz, "cuGraphInstantiateWithParams", 12000, kOwnStream),
    GPUTOMO_HOOK(cuGraphExecUpdate, "cuGraphExecUpdate", 10020, kAnyThread),
    GPUTOMO_HOOK(cuGraphExecUpdate_v2, "cuGraphExecUpdate", 12000, kAnyThread),
    GPUTOMO_HOOK(cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams", 10010, kAnyThread),
    GPUTOMO_HOOK(cuGraphExecKernelNodeSetParams_v2, "cuGraphExecKernelNodeSetParams", 12000, kAnyThread),
    GPUTOMO_HOOK(cuGraphExecNodeSetParams, "cuGraphExecNodeSetParams", 12020, kAnyThread),
    GPUTOMO_HOOK(cuGraphExecDestroy, "cuGraphExecDestroy", 10000, kAnyThread),
    GPUTOMO_HOOK(cuGraphLaunch, "cuGraphLaunch", 10000, kAnyThread),
    GPUTOMO_HOOK(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, kOwnStream),
    GPUTOMO_HOOK(cuMemAlloc_v2, "cuMemAlloc", 3020, kAnyThread),
    GPUTOMO_HOOK(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, kAnyThread),
    GPUTOMO_HOOK(cuMemAllocManaged, "cuMemAllocManaged", 6000, kAnyThread),
    GPUTOMO_HOOK(cuMemFree_v2, "cuMemFree", 3020, kAnyThread),
    GPUTOMO_HOOK(cuMemAllocAsync, "cuMemAllocAsync", 11020, kAnyThread),
    GPUTOMO_HOOK(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, kOwnStream),
    GPUTOMO_HOOK(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, kAnyThread),
    GPUTOMO_HOOK(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, kOwnStream),
    GPUTOMO_HOOK(cuMemFreeAsync, "cuMemFreeAsync", 11020, kAnyThread),
    GPUTOMO_HOOK(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, kOwnStream),
    GPUTOMO_HOOK(cuMemAllocHost_v2, "cuMemAllocHost", 3020, kAnyThread),
    GPUTOMO_HOOK(cuMemHostAlloc, "cuMemHostAlloc", 2020, kAnyThread),
    GPUTOMO_HOOK(cuMemHostRegister_v2, "cuMemHostRegister", 6050, kAnyThread),
    GPUTOMO_HOOK(cuMemHostUnregister, "cuMemHostUnregister", 4000, kAnyThread),
    GPUTOMO_HOOK(cuMemFreeHost, "cuMemFreeHost", 2000, kAnyThread),
    GPUTOMO_HOOK(cuMemMap, "cuMemMap", 10020, kAnyThread),
    GPUTOMO_HOOK(cuMemSetAccess, "cuMemSetAccess", 10020, kAnyThread),
    GPUTOMO_HOOK(cuMemUnmap, "cuMemUnmap", 10020, kAnyThread),
    GPUTOMO_HOOK(cuTexObjectCreate, "cuTexObjectCreate", 5000, kAnyThread),
    GPUTOMO_HOOK(cuTexObjectDestroy, "cuTexObjectDestroy", 5000, kAnyThread),
    GPUTOMO_HOOK(cuEventRecord, "cuEventRecord", 2000, kAnyThread),
    GPUTOMO_HOOK(cuEventRecord_ptsz, "cuEventRecord", 7000, kOwnStream),
    GPUTOMO_HOOK(cuEventRecordWithFlags, "cuEventRecordWithFlags", 11010, kAnyThread),
    GPUTOMO_HOOK(cuEventRecordWithFlags_ptsz, "cuEventRecordWithFlags", 11010, kOwnStream),
    GPUTOMO_HOOK(cuStreamWaitEvent, "cuStreamWaitEvent", 3020, kAnyThread),
    GPUTOMO_HOOK(cuStreamWaitEvent_ptsz, "cuStreamWaitEvent", 7000, kOwnStream),
    GPUTOMO_HOOK(cuStreamSynchronize, "cuStreamSynchronize", 2000, kAnyThread),
    GPUTOMO_HOOK(cuStreamSynchronize_ptsz, "cuStreamSynchronize", 7000, kOwnStream),
    GPUTOMO_HOOK(cuEventSynchronize, "cuEventSynchronize", 2000, kAnyThread),
    GPUTOMO_HOOK(cuCtxSynchronize, "cuCtxSynchronize", 2000, kAnyThread),
    GPUTOMO_HOOK(cuCtxDestroy_v2, "cuCtxDestroy", 4000, kAnyThread),
    GPUTOMO_HOOK(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, kAnyThread),
    GPUTOMO_HOOK(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, kAnyThread),
};

}  // namespace

std::span<const Hook> hooks() { return kHooks; }

}  // namespace gputomo::capture
