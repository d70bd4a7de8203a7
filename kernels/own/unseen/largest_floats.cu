// The largest float of each of 512 groups in memory, found by loops of compare and swap that few threads enter.
#include "../suite.hpp"

extern "C" __global__ void largest_floats(float* largest, int rounds) {
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        auto* place = reinterpret_cast<unsigned*>(largest + number % 512);
        const float value = static_cast<float>(number >> 8);
        unsigned seen = *place;
        while (__uint_as_float(seen) < value) {
            const unsigned before = atomicCAS(place, seen, __float_as_uint(value));
            if (before == seen) break;
            seen = before;
        }
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
}

static suite::Entry entry("largest_floats", [] { largest_floats<<<264, 128>>>(suite::zeros<float>(512), 8); });
