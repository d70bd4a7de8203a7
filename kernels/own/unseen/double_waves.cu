// Sines, powers and logarithms of doubles.
#include "../suite.hpp"

extern "C" __global__ void double_waves(double* out, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    double value = 0.001 * thread + 0.5;
    for (int round = 0; round < rounds; ++round) value = sin(value) + log(value + 2.0) + pow(value + 1.5, 0.3);
    out[thread] = value;
}

static suite::Entry entry("double_waves", [] { double_waves<<<132, 128>>>(suite::zeros<double>(132 * 128), 4); });
