// 5 MiB that all blocks read four times: the L2 serves all but the first pass.
#include "../suite.hpp"

extern "C" __global__ void resident_reads(const float4* in, float* out, unsigned count, int passes) {
    float sum = 0;
    for (int pass = 0; pass < passes; ++pass) {
        const unsigned first = (blockIdx.x + pass * 37) % gridDim.x * blockDim.x + threadIdx.x;
#pragma unroll 4
        for (unsigned i = first; i < count; i += gridDim.x * blockDim.x) {
            const float4 x = __ldcg(in + i);
            sum += x.x + x.y + x.z + x.w;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("resident_reads", [] {
    constexpr unsigned kCount = 5U << 16, kBlocks = 256, kThreads = 512, kPasses = 4;
    resident_reads<<<kBlocks, kThreads>>>(suite::zeros<float4>(kCount), suite::zeros<float>(kBlocks * kThreads), kCount,
                                          kPasses);
});
