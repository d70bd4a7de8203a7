// Single precision alone: eight independent chains of multiply-adds a thread.
#include "../suite.hpp"

extern "C" __global__ void fma_chains(float* out, float factor, int rounds) {
    constexpr int kChains = 8;
    float sum[kChains];
    for (int i = 0; i < kChains; ++i) sum[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
        for (int i = 0; i < kChains; ++i) sum[i] = sum[i] * factor + 1.0F;
    float all = 0;
    for (int i = 0; i < kChains; ++i) all += sum[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

static suite::Entry entry("fma_chains", [] { fma_chains<<<22, 256>>>(suite::zeros<float>(22 * 256), 0.5F, 450); });
