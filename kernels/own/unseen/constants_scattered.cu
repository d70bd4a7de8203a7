// Constants at places that differ by lane, over all 64 KiB.
#include "../suite.hpp"

__constant__ unsigned table[16320];

extern "C" __global__ void constants_scattered(unsigned* out, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += table[number % 16320];
        number = number * 1664525U + sum + 1013904223U;
        number ^= number >> 13;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("constants_scattered", [] {
    constants_scattered<<<132, 64>>>(suite::zeros<unsigned>(132 * 64), 6);
});
