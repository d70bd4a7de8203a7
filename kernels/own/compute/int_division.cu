// Divisions and remainders of 32-bit integers by a divisor that the compiler does not know.
#include "../suite.hpp"

extern "C" __global__ void int_division(int* out, int divisor, int rounds) {
    int value = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1000000;
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
        const int quotient = value / (divisor + round);
        sum += quotient + value % (divisor + 2 * round);
        value += quotient + 77;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("int_division", [] { int_division<<<33, 128>>>(suite::zeros<int>(33 * 128), 3, 60); });
