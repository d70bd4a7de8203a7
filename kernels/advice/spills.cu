// Each thread has 64 sums in 32 registers, so that most are spilled. Advised: no limit of the registers.
#include "../own/suite.hpp"

constexpr int kSums = 64;

static __device__ void add_up(float* out, const float* factors, int rounds) {
    float sums[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = threadIdx.x + i;
    for (int round = 0; round < rounds; ++round) {
        const float factor = factors[round];
#pragma unroll
        for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + sums[(i + 7) % kSums];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum += sums[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256, 8) spills(float* out, const float* factors, int rounds) {
    add_up(out, factors, rounds);
}
extern "C" __global__ void spills_advised(float* out, const float* factors, int rounds) {
    add_up(out, factors, rounds);
}

static suite::Entry base("spills",
                         [] { spills<<<1056, 256>>>(suite::zeros<float>(1056 * 256), suite::zeros<float>(64), 32); });
static suite::Entry advised("spills_advised", [] {
    spills_advised<<<1056, 256>>>(suite::zeros<float>(1056 * 256), suite::zeros<float>(64), 32);
});
