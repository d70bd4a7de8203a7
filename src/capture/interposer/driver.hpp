// The driver behind the interposed entry points: the functions that the recorder itself calls.
#pragma once

#include "capture/interposer/abi.hpp"

namespace gputomo::capture {

// One row per entry point: member, exported symbol, parameters. A driver that lacks one leaves nullptr.
#define GPUTOMO_CAPTURE_DRIVER(ROW)                                                                         \
    ROW(driver_version, "cuDriverGetVersion", (int*))                                                       \
    ROW(context_current, "cuCtxGetCurrent", (abi::Context*))                                                \
    ROW(context_device, "cuCtxGetDevice", (abi::DeviceOrdinal*))                                            \
    ROW(device_name, "cuDeviceGetName", (char*, int, abi::DeviceOrdinal))                                   \
    ROW(device_attribute, "cuDeviceGetAttribute", (int*, int, abi::DeviceOrdinal))                          \
    ROW(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, abi::DeviceOrdinal))                           \
    ROW(device_uuid, "cuDeviceGetUuid", (abi::Uuid*, abi::DeviceOrdinal))                                   \
    ROW(device_uuid_v2, "cuDeviceGetUuid_v2", (abi::Uuid*, abi::DeviceOrdinal))                             \
    ROW(is_capturing, "cuStreamIsCapturing", (abi::Stream, int*))                                           \
    ROW(exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", (int*))                                 \
    ROW(stream_create, "cuStreamCreate", (abi::Stream*, unsigned))                                          \
    ROW(event_create, "cuEventCreate", (abi::Event*, unsigned))                                             \
    ROW(event_record, "cuEventRecord", (abi::Event, abi::Stream))                                           \
    ROW(event_query, "cuEventQuery", (abi::Event))                                                          \
    ROW(event_elapsed, "cuEventElapsedTime", (float*, abi::Event, abi::Event))                              \
    ROW(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, abi::DevicePointer, std::size_t, abi::Stream))        \
    ROW(copy_3d, "cuMemcpy3DAsync_v2", (const abi::Copy3d*, abi::Stream))                                   \
    ROW(array_descriptor, "cuArray3DGetDescriptor_v2", (abi::ArrayDescription*, abi::Array))                \
    ROW(stream_synchronize, "cuStreamSynchronize", (abi::Stream))                                           \
    ROW(function_name, "cuFuncGetName", (const char**, abi::Function))                                      \
    ROW(function_module, "cuFuncGetModule", (abi::Module*, abi::Function))                                  \
    ROW(function_parameter, "cuFuncGetParamInfo", (abi::Function, std::size_t, std::size_t*, std::size_t*)) \
    ROW(kernel_function, "cuKernelGetFunction", (abi::Function*, abi::Kernel))                              \
    ROW(kernel_name, "cuKernelGetName", (const char**, abi::Kernel))                                        \
    ROW(kernel_parameter, "cuKernelGetParamInfo", (abi::Kernel, std::size_t, std::size_t*, std::size_t*))   \
    ROW(graph_nodes, "cuGraphGetNodes", (abi::Graph, abi::GraphNode*, std::size_t*))                        \
    ROW(graph_edges, "cuGraphGetEdges", (abi::Graph, abi::GraphNode*, abi::GraphNode*, std::size_t*))       \
    ROW(graph_edges_v2, "cuGraphGetEdges_v2",                                                               \
        (abi::Graph, abi::GraphNode*, abi::GraphNode*, abi::EdgeData*, std::size_t*))                       \
    ROW(node_type, "cuGraphNodeGetType", (abi::GraphNode, int*))                                            \
    ROW(node_graph, "cuGraphChildGraphNodeGetGraph", (abi::GraphNode, abi::Graph*))                         \
    ROW(node_kernel, "cuGraphKernelNodeGetParams_v2", (abi::GraphNode, abi::KernelNodeParameters*))         \
    ROW(node_attribute, "cuGraphKernelNodeGetAttribute", (abi::GraphNode, int, void*))

struct Driver {
#define GPUTOMO_CAPTURE_MEMBER(member, symbol, parameters) abi::Result(*member) parameters = nullptr;
    GPUTOMO_CAPTURE_DRIVER(GPUTOMO_CAPTURE_MEMBER)
#undef GPUTOMO_CAPTURE_MEMBER
};

/// The driver that the program has loaded. Only a hooked entry point asks for it, so it is loaded by then.
[[nodiscard]] const Driver& driver();

/// What the driver's library exports under this name, past all hooks; nullptr if it does not.
[[nodiscard]] void* exported_by_driver(const char* name);

/// While one exists, calls of this thread neither end nor enter another stream's capture into a graph.
class Aside {
public:
    Aside();
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

private:
    int mode_ = abi::kCaptureRelaxed;
};

}  // namespace gputomo::capture
