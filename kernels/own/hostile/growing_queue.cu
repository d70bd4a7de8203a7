// Blocks take work from a queue in memory and add two further pieces for each, until a tree of 511 is done.
#include "../suite.hpp"

extern "C" __global__ void growing_queue(int* queue, int* heads, float* out, int pieces) {
    __shared__ int piece;
    for (;;) {
        if (threadIdx.x == 0) {
            const int ticket = atomicAdd(heads, 1);
            piece = -1;
            if (ticket < pieces) {
                while ((piece = atomicAdd(queue + ticket, 0) - 1) < 0) continue;
                if (2 * piece + 2 < pieces) {
                    const int place = atomicAdd(heads + 32, 2);
                    atomicExch(queue + place, 2 * piece + 2);
                    atomicExch(queue + place + 1, 2 * piece + 3);
                }
            }
        }
        __syncthreads();
        if (piece < 0) return;
        float value = piece + threadIdx.x;
        for (int i = 0; i < 100; ++i) value = value * 0.99F + 0.5F;
        out[piece * blockDim.x + threadIdx.x] = value;
        __syncthreads();
    }
}

static suite::Entry entry("growing_queue", [] {
    constexpr int kPieces = 511;
    std::vector<int> heads(64), queue(kPieces + 2);
    queue[0] = 1;
    heads[32] = 1;
    growing_queue<<<132, 64>>>(suite::copy_of(queue), suite::copy_of(heads), suite::zeros<float>(kPieces * 64), kPieces);
});
