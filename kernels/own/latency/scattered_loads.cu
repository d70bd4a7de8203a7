// Loads in which each thread of a warp reads another line of 8 MiB; the addresses come from a hash.
#include "../suite.hpp"

extern "C" __global__ void scattered_loads(const float* in, float* out, unsigned mask, int rounds) {
    unsigned at = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        sum += in[at & mask];
        at = at * 1664525U + 1013904223U;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("scattered_loads", [] {
    constexpr unsigned kCount = 1U << 21;
    scattered_loads<<<264, 256>>>(suite::zeros<float>(kCount), suite::zeros<float>(264 * 256), kCount - 1, 8);
});
