// Divisions of 64-bit integers: the machine calls a routine, whose short path serves half of the threads.
#include "../suite.hpp"

extern "C" __global__ void long_division(unsigned long long* out, unsigned long long divisor, int rounds) {
    unsigned long long value = blockIdx.x * blockDim.x + threadIdx.x;
    value += (threadIdx.x & 1) != 0 ? 1ULL << 40 : 1ULL << 20;
    unsigned long long sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += value / (divisor + round);
        value += 12345;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("long_division",
                          [] { long_division<<<44, 128>>>(suite::zeros<unsigned long long>(44 * 128), 37, 20); });
