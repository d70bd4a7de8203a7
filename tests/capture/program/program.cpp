// A program with kernels, in the ways in which programs reach the driver: `linked` with it, by dlsym (`dlsym`) or by
// cuGetProcAddress (`proc`). It prints what its kernels computed.
//
//   program linked|dlsym|proc MODULE KERNEL ACTION
#include "capture/interposer/abi.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using namespace gputomo::capture;
using abi::Result;

// One row per entry point: the name for cuGetProcAddress, the exported symbol, parameters.
#define DRIVER(ROW)                                                                                                \
    ROW(cuInit, cuInit, (unsigned))                                                                                \
    ROW(cuMemAlloc, cuMemAlloc_v2, (abi::DevicePointer*, std::size_t))                                             \
    ROW(cuMemFree, cuMemFree_v2, (abi::DevicePointer))                                                             \
    ROW(cuMemcpyHtoD, cuMemcpyHtoD_v2, (abi::DevicePointer, const void*, std::size_t))                             \
    ROW(cuStreamCreate, cuStreamCreate, (abi::Stream*, unsigned))                                                  \
    ROW(cuStreamSynchronize, cuStreamSynchronize, (abi::Stream))                                                   \
    ROW(cuStreamBeginCapture, cuStreamBeginCapture_v2, (abi::Stream, int))                                         \
    ROW(cuStreamEndCapture, cuStreamEndCapture, (abi::Stream, abi::Graph*))                                        \
    ROW(cuStreamWaitEvent, cuStreamWaitEvent, (abi::Stream, abi::Event, unsigned))                                 \
    ROW(cuEventCreate, cuEventCreate, (abi::Event*, unsigned))                                                     \
    ROW(cuEventRecord, cuEventRecord, (abi::Event, abi::Stream))                                                   \
    ROW(cuModuleLoadData, cuModuleLoadData, (abi::Module*, const void*))                                           \
    ROW(cuModuleGetFunction, cuModuleGetFunction, (abi::Function*, abi::Module, const char*))                      \
    ROW(cuLibraryLoadData, cuLibraryLoadData,                                                                      \
        (abi::Library*, const void*, int*, void**, unsigned, int*, void**, unsigned))                              \
    ROW(cuLibraryGetKernel, cuLibraryGetKernel, (abi::Kernel*, abi::Library, const char*))                         \
    ROW(cuLibraryGetGlobal, cuLibraryGetGlobal, (abi::DevicePointer*, std::size_t*, abi::Library, const char*))    \
    ROW(cuLaunchKernel, cuLaunchKernel,                                                                            \
        (abi::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, abi::Stream, void**, \
         void**))                                                                                                  \
    ROW(cuLaunchKernelEx, cuLaunchKernelEx, (const abi::LaunchConfiguration*, abi::Function, void**, void**))      \
    ROW(cuArray3DCreate, cuArray3DCreate_v2, (abi::Array*, const abi::ArrayDescription*))                          \
    ROW(cuTexObjectCreate, cuTexObjectCreate,                                                                      \
        (abi::TextureObject*, const abi::ResourceDescription*, const abi::TextureDescription*, const void*))       \
    ROW(cuTexObjectDestroy, cuTexObjectDestroy, (abi::TextureObject))                                              \
    ROW(cuGraphInstantiate, cuGraphInstantiateWithFlags, (abi::GraphExec*, abi::Graph, unsigned long long))        \
    ROW(cuGraphLaunch, cuGraphLaunch, (abi::GraphExec, abi::Stream))

#ifdef LINKED_WITH_DRIVER
#define DECLARE(name, symbol, parameters) extern "C" Result symbol parameters;
DRIVER(DECLARE)
#endif

namespace {

struct Api {
#define MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
    DRIVER(MEMBER)
} api;

void find_entry_points(const std::string& way) {
#ifdef LINKED_WITH_DRIVER
    if (way == "linked") {
#define LINK(name, symbol, parameters) api.name = &symbol;
        DRIVER(LINK)
        return;
    }
#endif
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) std::exit(3);
    using GetProcAddress = Result (*)(const char*, void**, int, std::uint64_t, int*);
    const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
    const auto find = [&](const char* name, const char* symbol) {
        void* found = nullptr;
        if (way == "dlsym") return dlsym(library, symbol);
        int status = 0;
        get(name, &found, 12000, 0, &status);
        return found;
    };
#define FIND(name, symbol, parameters) api.name = reinterpret_cast<decltype(api.name)>(find(#name, #symbol));
    DRIVER(FIND)
}

std::string content(const char* file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

constexpr int kFloats = 100'000;

/// Device memory with 0, 1, 2, ...
abi::DevicePointer numbers() {
    std::vector<float> host(kFloats);
    for (int i = 0; i < kFloats; ++i) host[static_cast<std::size_t>(i)] = static_cast<float>(i);
    abi::DevicePointer address = 0;
    api.cuMemAlloc(&address, kFloats * sizeof(float));
    api.cuMemcpyHtoD(address, host.data(), kFloats * sizeof(float));
    return address;
}

Result scale(const void* kernel, abi::DevicePointer address, float factor, int count, abi::Stream stream,
             unsigned threads = 256) {
    void* parameters[] = {&address, &factor, &count};
    return api.cuLaunchKernel(static_cast<abi::Function>(const_cast<void*>(kernel)), 391, 1, 1, threads, 1, 1, 64,
                              stream, parameters, nullptr);
}

void print(const char* what, abi::DevicePointer address) {
    double sum = 0;
    for (int i = 0; i < kFloats; ++i) sum += reinterpret_cast<const float*>(address)[i];
    std::printf("%s %.6f\n", what, sum);
}

/// A kernel of a module that is freed once it is loaded.
const void* load(const char* file, const char* name, bool as_library) {
    std::string code = content(file);
    if (as_library) {
        abi::Library library = nullptr;
        abi::Kernel kernel = nullptr;
        api.cuLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
        code.assign(code.size(), 'x');
        api.cuLibraryGetKernel(&kernel, library, name);
        return kernel;
    }
    abi::Module module = nullptr;
    abi::Function function = nullptr;
    api.cuModuleLoadData(&module, code.data());
    api.cuModuleGetFunction(&function, module, name);
    return function;
}

/// Two launches, then one that the driver refuses.
void plain(const void* kernel) {
    const auto address = numbers();
    scale(kernel, address, 2, kFloats, nullptr);
    scale(kernel, address, 3, kFloats, nullptr);
    std::printf("refused %d\n", scale(kernel, address, 2, kFloats, nullptr, 2048));
    api.cuStreamSynchronize(nullptr);
    print("plain", address);
    api.cuMemFree(address);
}

/// Memory that a parameter points to through a table, and a launch with a cluster.
void pointers(const void* kernel) {
    const auto address = numbers();
    const abi::DevicePointer row[2] = {7, address};
    abi::DevicePointer table = 0;
    api.cuMemAlloc(&table, sizeof(row));
    api.cuMemcpyHtoD(table, row, sizeof(row));
    float factor = 1;
    int count = 0;
    void* parameters[] = {&table, &factor, &count};
    abi::LaunchAttribute cluster{};
    cluster.id = abi::kLaunchCluster;
    cluster.value.cluster[0] = 2, cluster.value.cluster[1] = 1, cluster.value.cluster[2] = 1;
    const abi::LaunchConfiguration config{{8, 1, 1}, {32, 1, 1}, 0, nullptr, &cluster, 1};
    api.cuLaunchKernelEx(&config, static_cast<abi::Function>(const_cast<void*>(kernel)), parameters, nullptr);
    print("pointers", address);
}

/// Work that is captured into a graph, which starts twice.
void graph(const void* kernel) {
    const auto address = numbers();
    abi::Stream stream = nullptr;
    api.cuStreamCreate(&stream, 1);
    api.cuStreamBeginCapture(stream, 0);
    scale(kernel, address, 2, kFloats, stream);
    scale(kernel, address, 5, kFloats / 2, stream);
    abi::Graph made = nullptr;
    api.cuStreamEndCapture(stream, &made);
    abi::GraphExec exec = nullptr;
    api.cuGraphInstantiate(&exec, made, 0);
    for (int i = 0; i < 2; ++i) api.cuGraphLaunch(exec, stream);
    api.cuStreamSynchronize(stream);
    print("graph", address);
}

/// Texture objects of an array, of rows and of linear memory, and one that is destroyed before the launch.
void textures(const void* kernel) {
    const auto address = numbers(), rows = numbers();
    const abi::ArrayDescription layers{6, 4, 2, abi::kFormatF32, 1, abi::kArrayLayered};
    abi::Array array = nullptr;
    api.cuArray3DCreate(&array, &layers);
    abi::TextureDescription texture{};
    texture.address_mode[0] = 3, texture.address_mode[1] = 1;
    texture.filter_mode = abi::kFilterLinear;
    texture.flags = abi::kNormalizedCoordinates;
    texture.border_color[1] = 1;
    abi::TextureObject made = 0;
    abi::ResourceDescription resource{};
    resource.type = abi::kResourceArray;
    resource.resource.array = array;
    api.cuTexObjectCreate(&made, &resource, &texture, nullptr);
    resource.type = abi::kResourcePitch2d;
    resource.resource.rows = {rows, 0x01, 4, 50, 20, 256};
    texture.flags = abi::kReadAsInteger;
    api.cuTexObjectCreate(&made, &resource, &texture, nullptr);
    resource.type = abi::kResourceLinear;
    resource.resource.linear = {address, abi::kFormatF32, 2, 4096};
    api.cuTexObjectCreate(&made, &resource, &texture, nullptr);
    api.cuTexObjectCreate(&made, &resource, &texture, nullptr);
    api.cuTexObjectDestroy(made);
    scale(kernel, address, 2, kFloats, nullptr);
    print("textures", address);
}

void threads(const void* kernel) {
    std::vector<std::thread> all;
    std::vector<abi::DevicePointer> addresses;
    for (int i = 0; i < 4; ++i) addresses.push_back(numbers());
    for (const auto address : addresses)
        all.emplace_back([=] {
            abi::Stream stream = nullptr;
            api.cuStreamCreate(&stream, 1);
            for (int n = 0; n < 50; ++n) scale(kernel, address, 1, kFloats, stream);
            api.cuStreamSynchronize(stream);
        });
    for (auto& thread : all) thread.join();
    for (const auto address : addresses) print("threads", address);
}

/// A launch that waits for another stream's.
void streams(const void* kernel) {
    const auto address = numbers();
    abi::Stream first = nullptr, second = nullptr;
    abi::Event event = nullptr;
    api.cuStreamCreate(&first, 1);
    api.cuStreamCreate(&second, 1);
    api.cuEventCreate(&event, 0);
    scale(kernel, address, 2, kFloats, first);
    api.cuEventRecord(event, first);
    api.cuStreamWaitEvent(second, event, 0);
    scale(kernel, address, 2, kFloats, second);
    print("streams", address);
}

/// A child of a fork and this process both use the driver.
void forked(const char* module, const char* name) {
    std::fflush(stdout);
    const pid_t child = fork();
    plain(load(module, name, true));
    std::fflush(stdout);
    if (child == 0) std::_Exit(0);
    waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const std::string way = argv[1], action = argv[4];
    find_entry_points(way);
    api.cuInit(0);
    std::printf("next %d\n", dlsym(RTLD_NEXT, "dlsym") == dlsym(RTLD_DEFAULT, "dlsym") ? 1 : 0);
    if (action == "fork") return forked(argv[2], argv[3]), 0;
    const void* const kernel = load(argv[2], argv[3], action != "module");
    if (action == "library" || action == "module") plain(kernel);
    if (action == "pointers") pointers(kernel);
    if (action == "graph") graph(kernel);
    if (action == "textures") textures(kernel);
    if (action == "threads") threads(kernel);
    if (action == "streams") streams(kernel);
    if (action == "killed") plain(kernel), std::fflush(stdout), raise(SIGKILL);
    return action == "fails" ? 7 : 0;
}
