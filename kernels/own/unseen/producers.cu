// Even blocks produce words and raise flags; each odd block waits for the flag of its neighbour and sums the words.
#include "../suite.hpp"

extern "C" __global__ void producers(volatile unsigned* data, volatile unsigned* flags, unsigned* out, int rounds) {
    const unsigned pair = blockIdx.x / 2;
    volatile unsigned* mine = data + pair * blockDim.x;
    unsigned sum = 0;
    for (int round = 1; round <= rounds; ++round) {
        if (blockIdx.x % 2 == 0) {
            if (threadIdx.x == 0)
                while (flags[pair * 64 + 32] + 1 < round) continue;
            __syncthreads();
            mine[threadIdx.x] = round * threadIdx.x;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) flags[pair * 64] = round;
        } else {
            if (threadIdx.x == 0)
                while (flags[pair * 64] < round) continue;
            __syncthreads();
            sum += mine[threadIdx.x];
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) flags[pair * 64 + 32] = round;
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("producers", [] {
    producers<<<128, 128>>>(suite::zeros<unsigned>(64 * 128), suite::zeros<unsigned>(64 * 64),
                            suite::zeros<unsigned>(128 * 128), 6);
});
