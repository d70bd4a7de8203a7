// Additions of integers to 256 neighbouring addresses that a hash draws, whose old values are summed.
#include "../suite.hpp"

extern "C" __global__ void atom_int_256(unsigned* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
    for (int round = 0; round < rounds; ++round) {
        unsigned before;
        asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(to + (number >> 24)), "r"(1) : "memory");
        sum += before;
        number = number * 1664525U + 1013904223U;
    }
    to[256 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("atom_int_256",
                          [] { atom_int_256<<<132, 256>>>(suite::zeros<unsigned>(256 + 132 * 256), 2); });
