// Additions of floats to 256 neighbouring addresses that a hash draws, whose old values are summed.
#include "../suite.hpp"

extern "C" __global__ void atom_float_256(float* to, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        float before;
        asm volatile("atom.global.add.f32 %0, [%1], %2;"
                     : "=f"(before)
                     : "l"(to + (number >> 24)), "f"(1.0F)
                     : "memory");
        sum += before;
        number = number * 1664525U + 1013904223U;
    }
    to[256 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("atom_float_256",
                          [] { atom_float_256<<<132, 256>>>(suite::zeros<float>(256 + 132 * 256), 2); });
