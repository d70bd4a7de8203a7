// Additions of integers to one address that the compiler sees to be one: a warp sums its numbers first.
#include "../suite.hpp"

extern "C" __global__ void red_int_one(unsigned* to, int rounds) {
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(threadIdx.x) : "memory");
}

static suite::Entry entry("red_int_one", [] { red_int_one<<<64, 256>>>(suite::zeros<unsigned>(1), 24); });
