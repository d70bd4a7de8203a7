// Sums within a warp by way of shared memory, with __syncwarp() between each two steps.
#include "../suite.hpp"

extern "C" __global__ void warps_in_step(float* out, int rounds) {
    __shared__ volatile float sums[256];
    const unsigned lane = threadIdx.x % 32;
    volatile float* mine = sums + threadIdx.x - lane;
    float value = static_cast<float>(threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        mine[lane] = value;
        __syncwarp();
        for (unsigned step = 16; step > 0; step /= 2) {
            const float other = mine[lane ^ step];
            __syncwarp();
            value = value * 0.5F + other;
            mine[lane] = value;
            __syncwarp();
        }
        if (lane < 8) value += 1;
        __syncwarp();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static suite::Entry entry("warps_in_step", [] { warps_in_step<<<396, 256>>>(suite::zeros<float>(396 * 256), 12); });
