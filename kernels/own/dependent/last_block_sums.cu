// A reduction across blocks: each stores its sum and counts itself; the block that comes last adds the sums.
#include "../suite.hpp"

constexpr int kThreads = 256;

__device__ float block_sum(float value, float* shared) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffU, value, distance);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < kThreads / 32; ++warp) value += shared[warp];
    __syncthreads();
    return value;
}

extern "C" __global__ void last_block_sums(const float4* in, float* sums, unsigned* done, float* out, int parts) {
    __shared__ float shared[kThreads / 32];
    __shared__ bool last;
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
        const float4 x = in[(part * gridDim.x + blockIdx.x) * kThreads + threadIdx.x];
        sum += x.x + x.y + x.z + x.w;
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(done, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) sum += __ldcg(sums + i);
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0) *out = sum;
}

static suite::Entry entry("last_block_sums", [] {
    constexpr int kBlocks = 528, kParts = 4;
    last_block_sums<<<kBlocks, kThreads>>>(suite::zeros<float4>(kBlocks * kParts * kThreads),
                                           suite::zeros<float>(kBlocks), suite::zeros<unsigned>(1),
                                           suite::zeros<float>(1), kParts);
});
