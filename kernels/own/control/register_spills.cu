// 64 live values where 32 registers a thread are allowed: the rest goes to local memory and comes back.
#include "../suite.hpp"

extern "C" __global__ void __launch_bounds__(256, 8) register_spills(float* out, float factor, int rounds) {
    constexpr int kValues = 64;
    float value[kValues];
#pragma unroll
    for (int i = 0; i < kValues; ++i) value[i] = static_cast<float>(threadIdx.x * kValues + i);
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < kValues; ++i) value[i] = value[i] * factor + value[(i + 17) % kValues];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kValues; ++i) sum += value[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("register_spills",
                          [] { register_spills<<<44, 256>>>(suite::zeros<float>(44 * 256), 0.5F, 4); });
