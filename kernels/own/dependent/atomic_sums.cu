// A reduction across blocks: each adds its sum to one float in memory.
#include "../suite.hpp"

extern "C" __global__ void atomic_sums(const float4* in, float* out, int parts) {
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
        const float4 x = in[(part * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
        sum += x.x + x.y + x.z + x.w;
    }
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

static suite::Entry entry("atomic_sums", [] {
    constexpr int kBlocks = 528, kThreads = 256, kParts = 4;
    atomic_sums<<<kBlocks, kThreads>>>(suite::zeros<float4>(kBlocks * kParts * kThreads), suite::zeros<float>(1),
                                       kParts);
});
