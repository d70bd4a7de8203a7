// Stores of single words at random places of 64 MB.
#include "../suite.hpp"

extern "C" __global__ void scattered_writes(float* out, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        out[number >> 8] = round;
        number = number * 1664525U + 1013904223U;
        number ^= number >> 15;
    }
}

static suite::Entry entry("scattered_writes", [] { scattered_writes<<<132, 256>>>(suite::zeros<float>(1 << 24), 8); });
