// Additions of integers to the 32 addresses of one line, one a lane.
#include "../suite.hpp"

extern "C" __global__ void red_int_line(unsigned* to, int rounds) {
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to + threadIdx.x % 32), "r"(round) : "memory");
}

static suite::Entry entry("red_int_line", [] { red_int_line<<<132, 256>>>(suite::zeros<unsigned>(32), 8); });
