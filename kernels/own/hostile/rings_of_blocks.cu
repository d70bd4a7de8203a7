// Every other block writes numbers to a ring of four places, which its neighbour reads. Flags in memory say when.
#include "../suite.hpp"

extern "C" __global__ void rings_of_blocks(float* rings, volatile int* written, volatile int* taken, float* out,
                                           int pieces) {
    const unsigned pair = blockIdx.x / 2;
    float* const ring = rings + pair * 4 * blockDim.x;
    float sum = 0;
    for (int piece = 0; piece < pieces; ++piece) {
        float* const place = ring + piece % 4 * blockDim.x + threadIdx.x;
        if (blockIdx.x % 2 == 0) {
            if (threadIdx.x == 0)
                while (piece - taken[pair * 32] >= 4) continue;
            __syncthreads();
            __stcg(place, piece * 0.5F + threadIdx.x);
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) written[pair * 32] = piece + 1;
        } else {
            if (threadIdx.x == 0)
                while (written[pair * 32] <= piece) continue;
            __syncthreads();
            sum += __ldcg(place);
            __syncthreads();
            if (threadIdx.x == 0) taken[pair * 32] = piece + 1;
        }
    }
    if (blockIdx.x % 2 == 1) out[pair * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("rings_of_blocks", [] {
    rings_of_blocks<<<132, 128>>>(suite::zeros<float>(66 * 4 * 128), suite::zeros<int>(66 * 32),
                                  suite::zeros<int>(66 * 32), suite::zeros<float>(66 * 128), 12);
});
