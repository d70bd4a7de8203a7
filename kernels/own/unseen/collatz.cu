// Loops whose length differs by lane: steps of 3n + 1 until 1.
#include "../suite.hpp"

extern "C" __global__ void collatz(unsigned* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long number = thread + 1;
    unsigned count = 0;
    while (number != 1) {
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
        ++count;
    }
    out[thread] = count;
}

static suite::Entry entry("collatz", [] { collatz<<<264, 256>>>(suite::zeros<unsigned>(264 * 256)); });
