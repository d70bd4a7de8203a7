// Running sums in one pass: each block adds what the blocks before it have published, looking back one by one.
#include "../suite.hpp"

extern "C" __global__ void look_back_sums(const int* in, int* out, volatile unsigned long long* published, int* ticket) {
    __shared__ int block, warps[8], before;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    const unsigned index = block * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = in[index] + 1;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(~0U, sum, distance);
        if (lane >= distance) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    for (unsigned i = 0; i < warp; ++i) sum += warps[i];
    if (threadIdx.x == blockDim.x - 1) {
        published[block] = (block == 0 ? 2ULL << 32 : 1ULL << 32) | static_cast<unsigned>(sum);
        int total = 0;
        for (int other = block - 1; other >= 0;) {
            const unsigned long long word = published[other];
            if (word == 0) continue;
            total += static_cast<int>(word);
            if (word >> 33 != 0) break;
            --other;
        }
        before = total;
        published[block] = 2ULL << 32 | static_cast<unsigned>(sum + total);
    }
    __syncthreads();
    out[index] = sum + before;
}

static suite::Entry entry("look_back_sums", [] {
    look_back_sums<<<528, 256>>>(suite::zeros<int>(528 * 256), suite::zeros<int>(528 * 256),
                                 suite::zeros<unsigned long long>(528), suite::zeros<int>(1));
});
