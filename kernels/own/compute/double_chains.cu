// Double precision alone: four independent chains of multiply-adds a thread.
#include "../suite.hpp"

extern "C" __global__ void double_chains(double* out, double factor, int rounds) {
    constexpr int kChains = 4;
    double sum[kChains];
    for (int i = 0; i < kChains; ++i) sum[i] = threadIdx.x + i;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
        for (int i = 0; i < kChains; ++i) sum[i] = sum[i] * factor + 1.0;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

static suite::Entry entry("double_chains",
                          [] { double_chains<<<22, 256>>>(suite::zeros<double>(22 * 256), 0.5, 600); });
