// Additions to a few counters, which lanes of a warp with the same counter combine first (__match_any_sync).
#include "../suite.hpp"

extern "C" __global__ void matches_first(unsigned* counters, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        const unsigned counter = number >> 7 & 15U;
        const unsigned same = __match_any_sync(~0U, counter);
        const unsigned sum = __reduce_add_sync(same, number & 3U);
        if ((same & ((1U << threadIdx.x % 32) - 1)) == 0) atomicAdd(counters + counter * 32, sum);
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
}

static suite::Entry entry("matches_first", [] { matches_first<<<132, 128>>>(suite::zeros<unsigned>(16 * 32), 6); });
