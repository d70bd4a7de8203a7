// The smallest float of all threads in one word. Each thread swaps until it has, also where its number is not smaller,
// as a common version of atomicMin() for floats does.
#include "../suite.hpp"

extern "C" __global__ void minimum_always_swapped(float* least, int* tries, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number = suite::spread(thread);
    auto* place = reinterpret_cast<int*>(least);
    int tried = 0;
    for (int round = 0; round < rounds; ++round) {
        const float value = -static_cast<float>(number >> 8);
        int before = *place, seen;
        do {
            seen = before;
            before = atomicCAS(place, seen, __float_as_int(fminf(value, __int_as_float(seen))));
            ++tried;
        } while (seen != before);
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    tries[thread] = tried;
}

static suite::Entry entry("minimum_always_swapped", [] {
    minimum_always_swapped<<<132, 128>>>(suite::zeros<float>(1), suite::zeros<int>(132 * 128), 2);
});
