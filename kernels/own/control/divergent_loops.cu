// Loops of another length in each thread: the steps until the rule "half, or three times plus one" reaches 1.
#include "../suite.hpp"

extern "C" __global__ void divergent_loops(int* out, unsigned first) {
    unsigned number = first + blockIdx.x * blockDim.x + threadIdx.x;
    int steps = 0;
    while (number != 1) {
        if ((number & 1) != 0)
            number = 3 * number + 1;
        else
            number /= 2;
        ++steps;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}

static suite::Entry entry("divergent_loops", [] { divergent_loops<<<64, 128>>>(suite::zeros<int>(64 * 128), 27); });
