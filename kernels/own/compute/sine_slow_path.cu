// Sines of numbers far above 105615, which are reduced modulo pi with integers and a table in local memory.
#include "../suite.hpp"

extern "C" __global__ void sine_slow_path(float* out, float first, int rounds) {
    float value = first + 1000.0F * static_cast<float>(blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += sinf(value);
        value += 3.0e6F;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("sine_slow_path",
                          [] { sine_slow_path<<<22, 128>>>(suite::zeros<float>(22 * 128), 1e7F, 16); });
