// Blocks that sort 1,024 words each in shared memory by a bitonic network.
#include "../suite.hpp"

extern "C" __global__ void bitonic_blocks(unsigned* words) {
    __shared__ unsigned keys[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) keys[i] = suite::spread(blockIdx.x * 1024 + i);
    for (unsigned size = 2; size <= 1024; size *= 2)
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const unsigned low = 2 * threadIdx.x - (threadIdx.x & (distance - 1)), high = low + distance;
            const bool up = (low & size) == 0;
            if ((keys[low] > keys[high]) == up) {
                const unsigned kept = keys[low];
                keys[low] = keys[high];
                keys[high] = kept;
            }
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[blockIdx.x * 1024 + i] = keys[i];
}

static suite::Entry entry("bitonic_blocks", [] { bitonic_blocks<<<264, 512>>>(suite::zeros<unsigned>(264 * 1024)); });
