// A histogram of 256 bins in shared memory by atomic additions; numbers come from a hash.
#include "../suite.hpp"

extern "C" __global__ void histogram_shared(unsigned* out, int rounds) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        atomicAdd(&bins[number >> 24], 1U);
        number = number * 1664525U + 1013904223U;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = bins[threadIdx.x];
}

static suite::Entry entry("histogram_shared",
                          [] { histogram_shared<<<33, 256>>>(suite::zeros<unsigned>(33 * 256), 256); });
