// Additions of integers to 256 neighbouring addresses that a hash draws.
#include "../suite.hpp"

extern "C" __global__ void red_int_256(unsigned* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to + (number >> 24)), "r"(1) : "memory");
        number = number * 1664525U + 1013904223U;
    }
}

static suite::Entry entry("red_int_256", [] { red_int_256<<<132, 256>>>(suite::zeros<unsigned>(256), 4); });
