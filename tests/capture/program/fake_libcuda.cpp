// A libcuda.so.1 without a GPU, as far as programs that are recorded need it. Device memory is host memory. Every
// kernel takes an address, a factor and a number of floats, and multiplies that many floats by the factor.
//
// While the work of a stream is captured into a graph, a driver allows neither events nor copies there. This one then
// ends the process with kMisuse, so that tests find a recorder that synchronises such a stream.
#include "capture/interposer/abi.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace gputomo::capture;
using abi::Result;

namespace {

constexpr int kMisuse = 99;
constexpr std::size_t kParameters[3][2] = {{0, 8}, {8, 4}, {12, 4}};

struct Node {
    abi::KernelNodeParameters parameters{};
    std::vector<unsigned char> storage;
    void* pointers[3] = {};
};
struct Graph {
    std::vector<Node*> nodes;
};

std::recursive_mutex lock;
std::vector<std::string*> kernels;
std::map<abi::Kernel, abi::Function> functions;  // of kernels of libraries
Graph* captured = nullptr;                       // the graph that kCapturedStream's work goes into
abi::Stream captured_stream = nullptr;
thread_local int capture_mode = 0;
float variable[4] = {1, 2, 3, 4};

[[noreturn]] void misuse(const char* call) {
    std::fprintf(stderr, "fake driver: %s on a stream that is being captured\n", call);
    std::_Exit(kMisuse);
}
void refuse_captured(abi::Stream stream, const char* call) {
    if (captured != nullptr && (stream == captured_stream || capture_mode != abi::kCaptureRelaxed)) misuse(call);
}

void run(void** parameters) {
    float* address = nullptr;
    float factor = 0;
    int count = 0;
    std::memcpy(&address, parameters[0], sizeof(address));
    std::memcpy(&factor, parameters[1], sizeof(factor));
    std::memcpy(&count, parameters[2], sizeof(count));
    for (int i = 0; i < count; ++i) address[i] *= factor;
}

Result launch(abi::KernelNodeParameters parameters, abi::Stream stream) {
    const std::scoped_lock guard(lock);
    if (captured == nullptr || stream != captured_stream) {
        run(parameters.parameters);
        return abi::kSuccess;
    }
    const auto function = functions.find(reinterpret_cast<abi::Kernel>(parameters.function));
    if (function != functions.end()) parameters.function = function->second;
    auto* node = new Node{parameters, std::vector<unsigned char>(16), {}};
    for (int i = 0; i < 3; ++i) {
        node->pointers[i] = node->storage.data() + kParameters[i][0];
        std::memcpy(node->pointers[i], parameters.parameters[i], kParameters[i][1]);
    }
    node->parameters.parameters = node->pointers;
    captured->nodes.push_back(node);
    return abi::kSuccess;
}

template <class Handle>
Handle handle(void* object) {
    return reinterpret_cast<Handle>(object);
}

Result parameter(std::size_t index, std::size_t* offset, std::size_t* bytes) {
    if (index >= 3) return abi::kInvalidValue;
    *offset = kParameters[index][0];
    *bytes = kParameters[index][1];
    return abi::kSuccess;
}

void* named(const char* name) { return kernels.emplace_back(new std::string(name)); }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) Result

EXPORT cuInit(unsigned) { return abi::kSuccess; }
EXPORT cuDriverGetVersion(int* version) { return *version = 13000, abi::kSuccess; }
EXPORT cuDeviceGetName(char* name, int size, abi::DeviceOrdinal) {
    std::snprintf(name, static_cast<std::size_t>(size), "Fake \"GPU\"");
    return abi::kSuccess;
}
EXPORT cuDeviceGetAttribute(int* value, int attribute, abi::DeviceOrdinal) {
    *value = attribute == abi::kAttributeMajor ? 9 : attribute == abi::kAttributeMinor ? 0 : 132;
    return abi::kSuccess;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* bytes, abi::DeviceOrdinal) { return *bytes = 1 << 30, abi::kSuccess; }
EXPORT cuCtxGetCurrent(abi::Context* context) { return *context = handle<abi::Context>(&lock), abi::kSuccess; }
EXPORT cuCtxGetDevice(abi::DeviceOrdinal* device) { return *device = 0, abi::kSuccess; }
EXPORT cuCtxSynchronize() { return abi::kSuccess; }

EXPORT cuStreamCreate(abi::Stream* stream, unsigned) {
    *stream = handle<abi::Stream>(std::malloc(8));
    return abi::kSuccess;
}
EXPORT cuStreamSynchronize(abi::Stream stream) {
    refuse_captured(stream, "cuStreamSynchronize");
    return abi::kSuccess;
}
EXPORT cuStreamIsCapturing(abi::Stream stream, int* status) {
    *status = captured != nullptr && stream == captured_stream ? 1 : abi::kCaptureNone;
    return abi::kSuccess;
}
EXPORT cuThreadExchangeStreamCaptureMode(int* mode) {
    std::swap(*mode, capture_mode);
    return abi::kSuccess;
}
EXPORT cuStreamBeginCapture_v2(abi::Stream stream, int) {
    captured = new Graph;
    captured_stream = stream;
    return abi::kSuccess;
}
EXPORT cuStreamEndCapture(abi::Stream, abi::Graph* graph) {
    *graph = handle<abi::Graph>(captured);
    captured = nullptr;
    return abi::kSuccess;
}
EXPORT cuEventCreate(abi::Event* event, unsigned) {
    *event = handle<abi::Event>(std::malloc(8));
    return abi::kSuccess;
}
EXPORT cuEventRecord(abi::Event event, abi::Stream stream) {
    refuse_captured(stream, "cuEventRecord");
    std::memset(event, 0, 1);
    return abi::kSuccess;
}
EXPORT cuStreamWaitEvent(abi::Stream, abi::Event, unsigned) { return abi::kSuccess; }
/// An idle GPU has reached an event at once. With FAKE_BUSY_GPU, it has when it is asked a second time.
EXPORT cuEventQuery(abi::Event event) {
    auto& asked = *reinterpret_cast<char*>(event);
    if (std::getenv("FAKE_BUSY_GPU") == nullptr || asked != 0) return abi::kSuccess;
    asked = 1;
    return abi::kNotReady;
}
EXPORT cuEventElapsedTime(float* milliseconds, abi::Event, abi::Event) { return *milliseconds = 0.25F, abi::kSuccess; }

EXPORT cuMemAlloc_v2(abi::DevicePointer* address, std::size_t bytes) {
    *address = reinterpret_cast<abi::DevicePointer>(std::calloc(1, bytes));
    return abi::kSuccess;
}
EXPORT cuMemFree_v2(abi::DevicePointer address) {
    std::free(reinterpret_cast<void*>(address));
    return abi::kSuccess;
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, abi::DevicePointer from, std::size_t bytes, abi::Stream stream) {
    refuse_captured(stream, "cuMemcpyDtoHAsync");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return abi::kSuccess;
}
EXPORT cuMemcpyHtoD_v2(abi::DevicePointer to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return abi::kSuccess;
}

/// An array's texels are the bytes 0, 1, 2, ...
EXPORT cuArray3DCreate_v2(abi::Array* array, const abi::ArrayDescription* description) {
    return *array = handle<abi::Array>(new abi::ArrayDescription(*description)), abi::kSuccess;
}
EXPORT cuArray3DGetDescriptor_v2(abi::ArrayDescription* description, abi::Array array) {
    return *description = *reinterpret_cast<abi::ArrayDescription*>(array), abi::kSuccess;
}
EXPORT cuMemcpy3DAsync_v2(const abi::Copy3d* copy, abi::Stream stream) {
    refuse_captured(stream, "cuMemcpy3DAsync");
    if (copy->from.type != abi::kMemoryArray || copy->to.type != abi::kMemoryHost || copy->to.pitch != copy->bytes)
        return abi::kInvalidValue;
    auto* const to = static_cast<unsigned char*>(copy->to.host);
    for (std::size_t i = 0; i < copy->bytes * copy->height * copy->depth; ++i) to[i] = static_cast<unsigned char>(i);
    return abi::kSuccess;
}
EXPORT cuTexObjectCreate(abi::TextureObject* texture, const abi::ResourceDescription*, const abi::TextureDescription*,
                         const void*) {
    static abi::TextureObject next = 0x100000;
    return *texture = ++next, abi::kSuccess;
}
EXPORT cuTexObjectDestroy(abi::TextureObject) { return abi::kSuccess; }

EXPORT cuModuleLoadData(abi::Module* module, const void*) {
    return *module = handle<abi::Module>(std::malloc(8)), abi::kSuccess;
}
EXPORT cuModuleGetFunction(abi::Function* function, abi::Module, const char* name) {
    return *function = handle<abi::Function>(named(name)), abi::kSuccess;
}
EXPORT cuLibraryLoadData(abi::Library* library, const void*, int*, void**, unsigned, int*, void**, unsigned) {
    return *library = handle<abi::Library>(std::malloc(8)), abi::kSuccess;
}
EXPORT cuKernelGetFunction(abi::Function* function, abi::Kernel kernel);
EXPORT cuLibraryGetKernel(abi::Kernel* kernel, abi::Library, const char* name) {
    abi::Function function = nullptr;
    *kernel = handle<abi::Kernel>(named(name));
    return cuKernelGetFunction(&function, *kernel);
}
EXPORT cuLibraryGetGlobal(abi::DevicePointer* address, std::size_t* bytes, abi::Library, const char*) {
    *address = reinterpret_cast<abi::DevicePointer>(variable);
    *bytes = sizeof(variable);
    return abi::kSuccess;
}
/// A kernel of a library has another handle as a function, by which graphs name it.
EXPORT cuKernelGetFunction(abi::Function* function, abi::Kernel kernel) {
    const std::scoped_lock guard(lock);
    auto& made = functions[kernel];
    if (made == nullptr) made = handle<abi::Function>(named(reinterpret_cast<std::string*>(kernel)->c_str()));
    return *function = made, abi::kSuccess;
}
EXPORT cuFuncGetName(const char** name, abi::Function function) {
    return *name = reinterpret_cast<std::string*>(function)->c_str(), abi::kSuccess;
}
EXPORT cuFuncGetParamInfo(abi::Function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return parameter(index, offset, bytes);
}
EXPORT cuKernelGetParamInfo(abi::Kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
    return parameter(index, offset, bytes);
}

EXPORT cuLaunchKernel(abi::Function function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, abi::Stream stream, void** parameters, void** extra) {
    if (bx * by * bz > 1024) return abi::kInvalidValue;
    return launch({function, {x, y, z}, {bx, by, bz}, shared, parameters, extra, nullptr, nullptr}, stream);
}
EXPORT cuLaunchKernelEx(const abi::LaunchConfiguration* config, abi::Function function, void** parameters,
                        void** extra) {
    const auto& [gx, gy, gz] = config->grid;
    const auto& [bx, by, bz] = config->block;
    return launch({function, {gx, gy, gz}, {bx, by, bz}, config->shared_bytes, parameters, extra, nullptr, nullptr},
                  config->stream);
}

EXPORT cuGraphInstantiateWithFlags(abi::GraphExec* exec, abi::Graph graph, unsigned long long) {
    return *exec = reinterpret_cast<abi::GraphExec>(graph), abi::kSuccess;
}
EXPORT cuGraphGetNodes(abi::Graph graph, abi::GraphNode* nodes, std::size_t* count) {
    const auto& all = reinterpret_cast<Graph*>(graph)->nodes;
    *count = all.size();
    for (std::size_t i = 0; nodes != nullptr && i < all.size(); ++i) nodes[i] = handle<abi::GraphNode>(all[i]);
    return abi::kSuccess;
}
EXPORT cuGraphGetEdges(abi::Graph graph, abi::GraphNode* from, abi::GraphNode* to, std::size_t* count) {
    const auto& all = reinterpret_cast<Graph*>(graph)->nodes;
    *count = all.size() - 1;
    for (std::size_t i = 0; from != nullptr && i + 1 < all.size(); ++i) {
        from[i] = handle<abi::GraphNode>(all[i]);
        to[i] = handle<abi::GraphNode>(all[i + 1]);
    }
    return abi::kSuccess;
}
EXPORT cuGraphNodeGetType(abi::GraphNode, int* type) { return *type = abi::kNodeKernel, abi::kSuccess; }
EXPORT cuGraphKernelNodeGetParams_v2(abi::GraphNode node, abi::KernelNodeParameters* parameters) {
    return *parameters = reinterpret_cast<Node*>(node)->parameters, abi::kSuccess;
}
EXPORT cuGraphLaunch(abi::GraphExec exec, abi::Stream) {
    for (auto* node : reinterpret_cast<Graph*>(exec)->nodes) run(node->pointers);
    return abi::kSuccess;
}

EXPORT cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int*);

namespace {

struct Entry {
    const char* name;
    void* function;
};
#define ENTRY(name, symbol) \
    { name, reinterpret_cast<void*>(&symbol) }
const Entry kEntries[] = {
    ENTRY("cuGetProcAddress", cuGetProcAddress_v2),
    ENTRY("cuInit", cuInit),
    ENTRY("cuMemAlloc", cuMemAlloc_v2),
    ENTRY("cuMemFree", cuMemFree_v2),
    ENTRY("cuMemcpyHtoD", cuMemcpyHtoD_v2),
    ENTRY("cuStreamCreate", cuStreamCreate),
    ENTRY("cuStreamSynchronize", cuStreamSynchronize),
    ENTRY("cuStreamBeginCapture", cuStreamBeginCapture_v2),
    ENTRY("cuStreamEndCapture", cuStreamEndCapture),
    ENTRY("cuStreamWaitEvent", cuStreamWaitEvent),
    ENTRY("cuEventCreate", cuEventCreate),
    ENTRY("cuEventRecord", cuEventRecord),
    ENTRY("cuArray3DCreate", cuArray3DCreate_v2),
    ENTRY("cuTexObjectCreate", cuTexObjectCreate),
    ENTRY("cuTexObjectDestroy", cuTexObjectDestroy),
    ENTRY("cuModuleLoadData", cuModuleLoadData),
    ENTRY("cuModuleGetFunction", cuModuleGetFunction),
    ENTRY("cuLibraryLoadData", cuLibraryLoadData),
    ENTRY("cuLibraryGetKernel", cuLibraryGetKernel),
    ENTRY("cuLibraryGetGlobal", cuLibraryGetGlobal),
    ENTRY("cuLaunchKernel", cuLaunchKernel),
    ENTRY("cuLaunchKernelEx", cuLaunchKernelEx),
    ENTRY("cuGraphInstantiate", cuGraphInstantiateWithFlags),
    ENTRY("cuGraphLaunch", cuGraphLaunch),
};

}  // namespace

EXPORT cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int*) {
    for (const auto& entry : kEntries)
        if (std::strcmp(entry.name, name) == 0) return *function = entry.function, abi::kSuccess;
    return abi::kNotFound;
}
