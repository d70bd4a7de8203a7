// The smallest float of all threads in one word, by compare and swap. A thread looks first whether its number is
// smaller, and most find after a few swaps that it is not.
#include "../suite.hpp"

extern "C" __global__ void minimum_that_settles(float* least, int* tries, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number = suite::spread(thread);
    auto* place = reinterpret_cast<int*>(least);
    int tried = 0;
    for (int round = 0; round < rounds; ++round) {
        const float value = -static_cast<float>(number >> 8);
        int seen = *place;
        while (value < __int_as_float(seen)) {
            const int before = atomicCAS(place, seen, __float_as_int(value));
            ++tried;
            if (before == seen) break;
            seen = before;
        }
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    tries[thread] = tried;
}

static suite::Entry entry("minimum_that_settles", [] {
    minimum_that_settles<<<132, 128>>>(suite::zeros<float>(1), suite::zeros<int>(132 * 128), 8);
});
