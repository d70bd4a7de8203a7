// Sums of doubles by compare and swap of 64 bits, in as many places as there is an argument for.
#include "../suite.hpp"

extern "C" __global__ void sums_by_swaps(double* sums, int* tries, unsigned places, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number = suite::spread(thread);
    int tried = 0;
    for (int round = 0; round < rounds; ++round) {
        auto* place = reinterpret_cast<unsigned long long*>(sums + number % places);
        unsigned long long before = *place, seen;
        do {
            seen = before;
            before = atomicCAS(place, seen, __double_as_longlong(1.0 + __longlong_as_double(seen)));
            ++tried;
        } while (seen != before);
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    tries[thread] = tried;
}

static suite::Entry entry("sums_by_swaps", [] {
    sums_by_swaps<<<132, 128>>>(suite::zeros<double>(1024), suite::zeros<int>(132 * 128), 1024, 4);
});
