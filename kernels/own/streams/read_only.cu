// Sums of 16-byte loads in a loop over the grid: reads of 24 MiB and hardly a write.
#include "../suite.hpp"

extern "C" __global__ void read_only(const float4* in, float* out, unsigned count) {
    float sum = 0;
#pragma unroll 4
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float4 x = in[i];
        sum += x.x + x.y + x.z + x.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("read_only", [] {
    constexpr unsigned kCount = 24U << 16, kBlocks = 264, kThreads = 512;
    read_only<<<kBlocks, kThreads>>>(suite::zeros<float4>(kCount), suite::zeros<float>(kBlocks * kThreads), kCount);
});
