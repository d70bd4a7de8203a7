// Each thread reads what its neighbour has written before a barrier, in memory: the L1 has no such line.
#include "../suite.hpp"

extern "C" __global__ void own_writes_read(float* buffer, int rounds) {
    float* const mine = buffer + static_cast<size_t>(blockIdx.x) * blockDim.x;
    float value = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        mine[threadIdx.x] = value;
        __syncthreads();
        value += mine[(threadIdx.x + 37) % blockDim.x];
        __syncthreads();
    }
    mine[threadIdx.x] = value;
}

static suite::Entry entry("own_writes_read", [] { own_writes_read<<<264, 256>>>(suite::zeros<float>(264 * 256), 10); });
