// Special functions: powers of two, logarithms, reciprocal roots and sines of small angles.
#include "../suite.hpp"

extern "C" __global__ void special_functions(float* out, int rounds) {
    float x = 1.0F + static_cast<float>(threadIdx.x) / 256.0F, sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += exp2f(-x) + rsqrtf(x + 1.0F);
        sum += __log2f(x) * __sinf(x);
        x = x * 0.99F + 0.02F;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("special_functions",
                          [] { special_functions<<<33, 256>>>(suite::zeros<float>(33 * 256), 110); });
