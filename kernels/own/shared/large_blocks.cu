// Blocks of 1,024 threads with 200 KiB of shared memory, one an SM: a circular exchange with a barrier in each turn.
#include "../suite.hpp"

constexpr int kThreads = 1024, kBytes = 200 * 1024;

extern "C" __global__ void __launch_bounds__(kThreads) large_blocks(float* out, int rounds) {
    extern __shared__ float words[];
    constexpr int kWords = kBytes / 4;
    for (int i = threadIdx.x; i < kWords; i += kThreads) words[i] = static_cast<float>(i);
    __syncthreads();
    float value = 0;
    for (int round = 0; round < rounds; ++round) {
        value = value * 0.5F + words[(threadIdx.x + round * 1031) % kWords];
        __syncthreads();
        words[(threadIdx.x * 7 + round * 517) % kWords] = value;
        __syncthreads();
    }
    out[blockIdx.x * kThreads + threadIdx.x] = value;
}

static suite::Entry entry("large_blocks", [] {
    suite::check(cudaFuncSetAttribute(large_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
                 "cudaFuncSetAttribute");
    large_blocks<<<44, kThreads, kBytes>>>(suite::zeros<float>(44 * kThreads), 24);
});
