// Blocks that stay and take pieces of work from a counter in memory until none is left; pieces differ in length.
#include "../suite.hpp"

extern "C" __global__ void work_queue(unsigned* next, float* out, unsigned pieces) {
    __shared__ unsigned mine;
    for (;;) {
        if (threadIdx.x == 0) mine = atomicAdd(next, 1U);
        __syncthreads();
        const unsigned piece = mine;
        __syncthreads();
        if (piece >= pieces) return;
        float value = static_cast<float>(threadIdx.x);
        const int rounds = 20 + static_cast<int>(suite::spread(piece) >> 26);
        for (int round = 0; round < rounds; ++round) value = value * 0.5F + 1.0F;
        out[piece * blockDim.x + threadIdx.x] = value;
    }
}

static suite::Entry entry("work_queue", [] {
    constexpr unsigned kPieces = 1024, kThreads = 128;
    work_queue<<<264, kThreads>>>(suite::zeros<unsigned>(1), suite::zeros<float>(kPieces * kThreads), kPieces);
});
