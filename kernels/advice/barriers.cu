// In each round another warp of the block has more to do, and all wait for it, although each reads what it wrote
// itself. Advised: a warp waits for its own threads.
#include "../own/suite.hpp"

template <bool kOfBlock>
static __device__ void work(float* out, float factor, int rounds) {
    __shared__ float words[256];
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float sum = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        for (int i = round % warps == warp ? 64 : 4; i > 0; --i) sum = sum * factor + 1;
        words[threadIdx.x] = sum;
        kOfBlock ? __syncthreads() : __syncwarp();
        sum += words[threadIdx.x ^ 1];
        kOfBlock ? __syncthreads() : __syncwarp();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void barriers(float* out, float factor, int rounds) { work<true>(out, factor, rounds); }
extern "C" __global__ void barriers_advised(float* out, float factor, int rounds) { work<false>(out, factor, rounds); }

static suite::Entry base("barriers", [] { barriers<<<264, 256>>>(suite::zeros<float>(264 * 256), 0.5f, 64); });
static suite::Entry advised("barriers_advised",
                            [] { barriers_advised<<<264, 256>>>(suite::zeros<float>(264 * 256), 0.5f, 64); });
