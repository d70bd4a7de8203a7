// Square roots, quotients, exponentials and logarithms in double precision.
#include "../suite.hpp"

extern "C" __global__ void double_functions(double* out, double factor, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    double value = 1.0 + index * factor;
    for (int round = 0; round < rounds; ++round)
        value = sqrt(value + 2.0) / (1.0 + exp(-value)) + log(value + round + 1.5);
    out[index] = value;
}

static suite::Entry entry("double_functions",
                          [] { double_functions<<<132, 64>>>(suite::zeros<double>(132 * 64), 1e-4, 8); });
