// Quotients and remainders of 64 bits, signed, where every fourth lane has a divisor of more than 32 bits.
#include "../suite.hpp"

extern "C" __global__ void division_mixed(long long* out, long long seed, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    long long value = seed * (index + 1), divisor = index % 4 == 0 ? (1LL << 33) + index : index % 1000 + 3;
    for (int round = 0; round < rounds; ++round) value = value / divisor + (value % divisor) * 0x100000001LL - round;
    out[index] = value;
}

static suite::Entry entry("division_mixed", [] {
    division_mixed<<<132, 128>>>(suite::zeros<long long>(132 * 128), 0x1234567890abcdLL, 12);
});
