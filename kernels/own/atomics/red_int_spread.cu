// Additions of integers to 2^20 addresses that a hash draws: hardly two meet.
#include "../suite.hpp"

extern "C" __global__ void red_int_spread(unsigned* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to + (number >> 12)), "r"(1) : "memory");
        number = number * 1664525U + 1013904223U;
    }
}

static suite::Entry entry("red_int_spread", [] { red_int_spread<<<264, 256>>>(suite::zeros<unsigned>(1 << 20), 8); });
