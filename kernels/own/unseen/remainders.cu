// Remainders of 64-bit and signed 32-bit numbers whose divisors differ by lane, in modular powers.
#include "../suite.hpp"

extern "C" __global__ void remainders(unsigned long long* out, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long base = suite::spread(thread), modulus = 1000003ULL + 2 * thread, power = 1;
    int rest = static_cast<int>(base);
    for (int round = 0; round < rounds; ++round) {
        power = power * (base % modulus) % modulus;
        rest = rest % static_cast<int>(977 + thread % 89) * 7919 + static_cast<int>(power);
        base = base * base + 1;
    }
    out[thread] = power + rest;
}

static suite::Entry entry("remainders", [] { remainders<<<264, 128>>>(suite::zeros<unsigned long long>(264 * 128), 6); });
