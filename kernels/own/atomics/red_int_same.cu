// Additions of integers to one address by all threads; that it is one stands in memory, where no compiler sees it.
#include "../suite.hpp"

extern "C" __global__ void red_int_same(unsigned* to, const unsigned* index, int rounds) {
    to += index[threadIdx.x];
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(to), "r"(threadIdx.x) : "memory");
}

static suite::Entry entry("red_int_same",
                          [] { red_int_same<<<64, 256>>>(suite::zeros<unsigned>(1), suite::zeros<unsigned>(256), 2); });
