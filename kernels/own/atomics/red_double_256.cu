// Additions of doubles to 256 neighbouring addresses that a hash draws.
#include "../suite.hpp"

extern "C" __global__ void red_double_256(double* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        asm volatile("red.global.add.f64 [%0], %1;" ::"l"(to + (number >> 24)), "d"(1.0) : "memory");
        number = number * 1664525U + 1013904223U;
    }
}

static suite::Entry entry("red_double_256", [] { red_double_256<<<132, 256>>>(suite::zeros<double>(256), 2); });
