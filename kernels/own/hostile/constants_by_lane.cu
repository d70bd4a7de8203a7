// Loads of constants with another index for each lane, of 16 KB.
#include "../suite.hpp"

namespace {
__constant__ float table[4096];
}

extern "C" __global__ void constants_by_lane(float* out, int stride, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int round = 0; round < rounds; ++round) sum += table[(threadIdx.x % 8 * stride + round * 5) % 4096];
    out[index] = sum;
}

static suite::Entry entry("constants_by_lane",
                          [] { constants_by_lane<<<132, 128>>>(suite::zeros<float>(132 * 128), 17, 32); });
