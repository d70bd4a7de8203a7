// Each block waits in memory for the sum of the block before it, adds its own and hands the sum on.
#include "../suite.hpp"

extern "C" __global__ void chained_sums(const unsigned* in, volatile unsigned* sums, volatile unsigned* ready) {
    __shared__ unsigned own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    atomicAdd(&own, in[blockIdx.x * blockDim.x + threadIdx.x] + 1);
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned before = 0;
    if (blockIdx.x > 0) {
        while (ready[blockIdx.x - 1] == 0) continue;
        before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + own;
    __threadfence();
    ready[blockIdx.x] = 1;
}

static suite::Entry entry("chained_sums", [] {
    constexpr int kBlocks = 64;
    chained_sums<<<kBlocks, 256>>>(suite::zeros<unsigned>(kBlocks * 256), suite::zeros<unsigned>(kBlocks),
                                   suite::zeros<unsigned>(kBlocks));
});
