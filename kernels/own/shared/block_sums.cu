// Sums of 256 numbers by a tree in shared memory with a barrier after each level, eight times a block.
#include "../suite.hpp"

extern "C" __global__ void block_sums(const float* in, float* out, int parts) {
    __shared__ float sums[256];
    for (int part = 0; part < parts; ++part) {
        sums[threadIdx.x] = in[(blockIdx.x * parts + part) * 256 + threadIdx.x];
        __syncthreads();
        for (int half = 128; half > 0; half /= 2) {
            if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x * parts + part] = sums[0];
        __syncthreads();
    }
}

static suite::Entry entry("block_sums", [] {
    constexpr int kBlocks = 132, kParts = 8;
    block_sums<<<kBlocks, 256>>>(suite::zeros<float>(kBlocks * kParts * 256), suite::zeros<float>(kBlocks * kParts),
                                 kParts);
});
