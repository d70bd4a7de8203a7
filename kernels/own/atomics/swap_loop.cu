// The largest of floats, kept in 64 addresses by loops of compare and swap that begin again where another came first.
#include "../suite.hpp"

extern "C" __global__ void swap_loop(float* largest, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        auto* to = reinterpret_cast<int*>(largest + (number >> 26));
        const float value = static_cast<float>(number & 0xffff);
        int before = *to;
        while (__int_as_float(before) < value) {
            const int found = atomicCAS(to, before, __float_as_int(value));
            if (found == before) break;
            before = found;
        }
        number = number * 1664525U + 1013904223U;
    }
}

static suite::Entry entry("swap_loop", [] { swap_loop<<<66, 128>>>(suite::zeros<float>(64), 2); });
