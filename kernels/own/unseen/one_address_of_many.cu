// Additions to 64 Ki counters in memory, half of which go to one of them.
#include "../suite.hpp"

extern "C" __global__ void one_address_of_many(unsigned* counters, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        atomicAdd(counters + ((number >> 20 & 1U) != 0 ? 777U : number & 0xffffU), 1U + (number >> 31));
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
}

static suite::Entry entry("one_address_of_many", [] {
    one_address_of_many<<<264, 256>>>(suite::zeros<unsigned>(1 << 16), 4);
});
