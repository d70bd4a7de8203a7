// Volatile stores and loads of a word of each thread with a fence of the GPU between them.
#include "../suite.hpp"

extern "C" __global__ void fences_between(volatile int* words, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        words[index] = words[index] * 3 + round;
        __threadfence();
    }
}

static suite::Entry entry("fences_between", [] { fences_between<<<132, 128>>>(suite::zeros<int>(132 * 128), 6); });
