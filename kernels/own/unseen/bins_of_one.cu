// A histogram in shared memory of which all threads count in one of four bins, and most in the first.
#include "../suite.hpp"

extern "C" __global__ void bins_of_one(unsigned* out, int rounds) {
    __shared__ unsigned bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        const unsigned bin = number & 15U;
        atomicAdd(bins + (bin < 13 ? 0 : bin - 12), 1U);
        number = number * 1664525U + 1013904223U;
        number ^= number >> 15;
    }
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}

static suite::Entry entry("bins_of_one", [] { bins_of_one<<<264, 256>>>(suite::zeros<unsigned>(4), 16); });
