// Blocks of one warp, each with 96 KiB of shared memory, of which it uses some words in a chain.
#include "../suite.hpp"

extern "C" __global__ void two_blocks_fit(const float* in, float* out) {
    extern __shared__ float words[];
    const unsigned thread = blockIdx.x * 32 + threadIdx.x;
    for (unsigned i = 0; i < 24; ++i) words[i * 1000 + threadIdx.x] = in[(thread + i * 4096) % (1U << 20)];
    __syncwarp();
    float sum = 0;
    for (unsigned i = 0; i < 24; ++i) sum = sum * 0.5F + words[i * 1000 + 31 - threadIdx.x];
    out[thread] = sum;
}

static suite::Entry entry("two_blocks_fit", [] {
    suite::check(cudaFuncSetAttribute(two_blocks_fit, cudaFuncAttributeMaxDynamicSharedMemorySize, 96 << 10),
                 "cudaFuncSetAttribute");
    two_blocks_fit<<<1056, 32, 96 << 10>>>(suite::zeros<float>(1 << 20), suite::zeros<float>(1056 * 32));
});
