// One block more than SMs, each of which holds one: the last block runs alone.
#include "../suite.hpp"

extern "C" __global__ void __launch_bounds__(1024, 1) one_more_block(float* out, int rounds) {
    extern __shared__ float buffer[];
    buffer[threadIdx.x] = threadIdx.x;
    float value = 0;
    for (int round = 0; round < rounds; ++round) {
        __syncthreads();
        value += buffer[(threadIdx.x * 3 + round) % blockDim.x];
        __syncthreads();
        buffer[threadIdx.x] = value;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static suite::Entry entry("one_more_block", [] {
    constexpr int kBytes = 120 * 1024;
    suite::check(cudaFuncSetAttribute(one_more_block, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes), "attribute");
    one_more_block<<<133, 1024, kBytes>>>(suite::zeros<float>(133 * 1024), 24);
});
