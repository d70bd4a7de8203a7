// Loads that hit in the L1: each block reads 16 KiB of its own many times, with an address that depends on the last.
#include "../suite.hpp"

extern "C" __global__ void first_level_loads(const int* in, int* out, int rounds) {
    constexpr int kWords = 4096;
    const int* words = in + blockIdx.x % 16 * kWords;
    int at = threadIdx.x, sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const int found = words[at];
        sum += found;
        at = (at + blockDim.x + found) % kWords;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("first_level_loads", [] {
    first_level_loads<<<44, 256>>>(suite::zeros<int>(16 * 4096), suite::zeros<int>(44 * 256), 128);
});
