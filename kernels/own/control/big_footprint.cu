// 4,096 multiply-adds without a loop in them, passed twice: more code than the first caches of instructions hold.
#include "../suite.hpp"

extern "C" __global__ void big_footprint(float* out, int rounds) {
    float a = static_cast<float>(threadIdx.x), b = a + 1.0F;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll 2048
        for (int i = 0; i < 2048; ++i) {
            a = a * 0.5F + static_cast<float>(i);
            b = b * 0.25F + static_cast<float>(i);
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

static suite::Entry entry("big_footprint", [] { big_footprint<<<22, 64>>>(suite::zeros<float>(22 * 64), 2); });
