// A table in constant memory, read with an index of its own in each thread.
#include "../suite.hpp"

__constant__ float table[256] = {1.0F, 0.5F, 0.25F, 0.125F, 2.0F, 4.0F, 8.0F, 16.0F};

extern "C" __global__ void constants_indexed(float* out, int rounds) {
    unsigned at = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += table[at % 256];
        at = at * 5 + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("constants_indexed",
                          [] { constants_indexed<<<66, 128>>>(suite::zeros<float>(66 * 128), 64); });
