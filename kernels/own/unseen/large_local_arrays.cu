// 96 words of local memory a thread, whose places are computed, so that no register can hold them.
#include "../suite.hpp"

extern "C" __global__ void large_local_arrays(unsigned* out, int rounds) {
    unsigned words[96];
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (unsigned i = 0; i < 96; ++i) words[i] = i * thread;
    unsigned place = thread;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        place = suite::spread(place);
        words[place % 96] += words[(place >> 8) % 96];
    }
    out[thread] = words[place % 96];
}

static suite::Entry entry("large_local_arrays", [] {
    large_local_arrays<<<396, 128>>>(suite::zeros<unsigned>(396 * 128), 24);
});
