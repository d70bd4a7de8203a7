// Sums of pairs of halves and smallest numbers of 64 bits at random addresses of 64 KB of memory.
#include <cuda_fp16.h>

#include "../suite.hpp"

extern "C" __global__ void half_sums(__half2* halves, unsigned long long* least, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        atomicAdd(halves + (number >> 18), __floats2half2_rn(1.0F, 0.5F));
        number = number * 1664525U + 1013904223U;
        atomicMin(least + (number >> 19), static_cast<unsigned long long>(number));
    }
}

static suite::Entry entry("half_sums", [] {
    half_sums<<<132, 256>>>(suite::zeros<__half2>(1 << 14), suite::zeros<unsigned long long>(1 << 13), 6);
});
