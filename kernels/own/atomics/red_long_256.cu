// Additions of 64-bit integers to 256 neighbouring addresses that a hash draws.
#include "../suite.hpp"

extern "C" __global__ void red_long_256(unsigned long long* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        asm volatile("red.global.add.u64 [%0], %1;" ::"l"(to + (number >> 24)), "l"(1ULL) : "memory");
        number = number * 1664525U + 1013904223U;
    }
}

static suite::Entry entry("red_long_256", [] { red_long_256<<<132, 256>>>(suite::zeros<unsigned long long>(256), 2); });
