// Sines of which one lane of a warp has an argument that needs the slow reduction, and not in each iteration.
#include "../suite.hpp"

extern "C" __global__ void sine_one_lane(float* out, float step, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = index * step, sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const bool large = (index + round) % 64 == 0;
        sum += sinf(large ? value * 1e7F + 3e5F : value) + cosf(value + sum);
        value += step;
    }
    out[index] = sum;
}

static suite::Entry entry("sine_one_lane", [] { sine_one_lane<<<132, 256>>>(suite::zeros<float>(132 * 256), 0.001F, 16); });
