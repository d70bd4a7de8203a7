// The driver's types that recording needs and that device/cuda/abi.hpp does not declare.
#pragma once

#include "device/cuda/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::capture::abi {

using namespace device::cuda::abi;

/// The name under which programs and runtimes load the driver.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";

using Library = struct LibraryTag*;
using Kernel = struct KernelTag*;
using Graph = struct GraphTag*;
using GraphNode = struct GraphNodeTag*;
using GraphExec = struct GraphExecTag*;
using MemoryPool = struct MemoryPoolTag*;

/// The legacy default stream, and the one that each thread has of its own.
inline const Stream kLegacyStream = nullptr;
inline const Stream kThreadStream = reinterpret_cast<Stream>(2);

/// CUDA_KERNEL_NODE_PARAMS_v2. Its first version ends before `kernel`.
struct KernelNodeParameters {
    Function function;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void** parameters;
    void** extra;
    Kernel kernel;
    Context context;
};

/// CUgraphNodeParams, of whose union only the parameters of kernels are spelt out.
struct GraphNodeParameters {
    int type;
    int reserved[3];
    KernelNodeParameters kernel;
};
inline constexpr int kNodeKernel = 0;
inline constexpr int kNodeGraph = 4;
inline constexpr int kNodeEmpty = 5;

/// CUgraphEdgeData
struct EdgeData {
    unsigned char bytes[8];
};

/// What a compiler puts around a fatbin: the argument of cuModuleLoadFatBinary and cuLibraryLoadData.
struct FatbinWrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* fatbin;
    const void* names;
};

/// CUDA_ARRAY3D_DESCRIPTOR
struct ArrayDescription {
    std::size_t width, height, depth;
    int format;
    unsigned channels;
    unsigned flags;
};
inline constexpr unsigned kArrayLayered = 0x01;
inline constexpr unsigned kArrayCubemap = 0x04;

/// One side of CUDA_MEMCPY3D.
struct Copy3dSide {
    std::size_t x, y, z, level;
    int type;
    void* host;
    DevicePointer device;
    Array array;
    void* reserved;
    std::size_t pitch, height;
};
/// CUDA_MEMCPY3D
struct Copy3d {
    Copy3dSide from, to;
    std::size_t bytes, height, depth;
};
inline constexpr int kMemoryHost = 1;
inline constexpr int kMemoryArray = 3;

// CUdevice_attribute
inline constexpr int kAttributeClockRate = 13;
inline constexpr int kAttributeMultiprocessors = 16;
inline constexpr int kAttributeMemoryClockRate = 36;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;

inline constexpr int kCaptureNone = 0;                         ///< CUstreamCaptureStatus
inline constexpr int kCaptureRelaxed = 2;                      ///< CUstreamCaptureMode
inline constexpr unsigned long long kPerThreadStreamFlag = 2;  ///< CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

static_assert(sizeof(ArrayDescription) == 40);
static_assert(sizeof(Copy3d) == 200);
static_assert(offsetof(KernelNodeParameters, parameters) == 40);
static_assert(sizeof(KernelNodeParameters) == 72);
static_assert(offsetof(GraphNodeParameters, kernel) == 16);

}  // namespace gputomo::capture::abi
