// Sums of floats in 64 addresses of shared memory, which the GPU makes by compare and swap.
#include "../suite.hpp"

extern "C" __global__ void shared_floats(float* out, int rounds) {
    __shared__ float sums[64];
    if (threadIdx.x < 64) sums[threadIdx.x] = 0;
    __syncthreads();
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        atomicAdd(sums + number % 64, static_cast<float>(number >> 20));
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    __syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = sums[threadIdx.x];
}

static suite::Entry entry("shared_floats", [] { shared_floats<<<132, 256>>>(suite::zeros<float>(132 * 64), 12); });
