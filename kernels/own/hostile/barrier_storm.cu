// Barriers of blocks of 1,024 threads with hardly any work between them.
#include "../suite.hpp"

extern "C" __global__ void barrier_storm(int* out, int rounds) {
    int count = threadIdx.x;
    for (int round = 0; round < rounds; ++round) count = __syncthreads_count(count % 3 != round % 3) + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

static suite::Entry entry("barrier_storm", [] { barrier_storm<<<132, 1024>>>(suite::zeros<int>(132 * 1024), 48); });
