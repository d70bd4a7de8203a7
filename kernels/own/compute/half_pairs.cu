// Pairs of half-precision numbers, two multiply-adds an instruction.
#include "../suite.hpp"

#include <cuda_fp16.h>

extern "C" __global__ void half_pairs(__half2* out, float factor, int rounds) {
    constexpr int kChains = 4;
    const __half2 scale = __float2half2_rn(factor), one = __float2half2_rn(1.0F);
    __half2 sum[kChains];
    for (int i = 0; i < kChains; ++i) sum[i] = __float2half2_rn(static_cast<float>(threadIdx.x % 8 + i));
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
        for (int i = 0; i < kChains; ++i) sum[i] = __hfma2(sum[i], scale, one);
    out[blockIdx.x * blockDim.x + threadIdx.x] = __hadd2(__hadd2(sum[0], sum[1]), __hadd2(sum[2], sum[3]));
}

static suite::Entry entry("half_pairs", [] { half_pairs<<<22, 256>>>(suite::zeros<__half2>(22 * 256), 0.5F, 700); });
