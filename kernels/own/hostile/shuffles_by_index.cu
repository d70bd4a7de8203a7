// Shuffles whose source is another lane each time, in a chain.
#include "../suite.hpp"

extern "C" __global__ void shuffles_by_index(unsigned* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = suite::spread(index);
    for (int round = 0; round < rounds; ++round) {
        value += __shfl_sync(~0U, value, value + round);
        value ^= __shfl_xor_sync(~0U, value, 1 << round % 5, 16);
    }
    out[index] = value;
}

static suite::Entry entry("shuffles_by_index",
                          [] { shuffles_by_index<<<264, 256>>>(suite::zeros<unsigned>(264 * 256), 64); });
