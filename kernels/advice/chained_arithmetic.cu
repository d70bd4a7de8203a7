// Each multiply-add waits for the one before, and an SM has four warps. Advised: four accumulators.
#include "../own/suite.hpp"

extern "C" __global__ void chained_arithmetic(float* out, float factor, int rounds) {
    float sum = threadIdx.x;
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) sum = sum * factor + factor;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void chained_arithmetic_advised(float* out, float factor, int rounds) {
    float sums[4] = {static_cast<float>(threadIdx.x), 1, 2, 3};
#pragma unroll 4
    for (int round = 0; round < rounds / 4; ++round)
        for (float& sum : sums) sum = sum * factor + factor;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

static suite::Entry base("chained_arithmetic",
                         [] { chained_arithmetic<<<132, 128>>>(suite::zeros<float>(132 * 128), 0.5f, 16384); });
static suite::Entry advised("chained_arithmetic_advised", [] {
    chained_arithmetic_advised<<<132, 128>>>(suite::zeros<float>(132 * 128), 0.5f, 16384);
});
