// Additions of integers to one address, whose old values are summed. The compiler has each warp sum its numbers first.
#include "../suite.hpp"

extern "C" __global__ void atom_int_one(unsigned* to, int rounds) {
    unsigned sum = 0;
    for (int round = 0; round < rounds; ++round) {
        unsigned before;
        asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(to), "r"(threadIdx.x) : "memory");
        sum += before;
    }
    to[32 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("atom_int_one", [] { atom_int_one<<<64, 256>>>(suite::zeros<unsigned>(32 + 64 * 256), 16); });
