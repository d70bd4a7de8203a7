// Each thread adds a number to one of four sums in memory. Advised: each block adds its numbers up first.
#include "../own/suite.hpp"

constexpr int kNumbers = 132 * 2048 * 2;

extern "C" __global__ void atomics(float* sums, const float* numbers) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sums + i % 4, numbers[i]);
}
extern "C" __global__ void atomics_advised(float* sums, const float* numbers) {
    __shared__ float of_warps[4][8];
    float sum = numbers[blockIdx.x * blockDim.x + threadIdx.x];
    for (int distance = 16; distance >= 4; distance /= 2) sum += __shfl_xor_sync(~0U, sum, distance);
    if (threadIdx.x % 32 < 4) of_warps[threadIdx.x % 32][threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 4) return;
    sum = 0;
    for (const float each : of_warps[threadIdx.x]) sum += each;
    atomicAdd(sums + threadIdx.x, sum);
}

static suite::Entry base("atomics", [] {
    atomics<<<kNumbers / 256, 256>>>(suite::zeros<float>(4), suite::zeros<float>(kNumbers));
});
static suite::Entry advised("atomics_advised", [] {
    atomics_advised<<<kNumbers / 256, 256>>>(suite::zeros<float>(4), suite::zeros<float>(kNumbers));
});
