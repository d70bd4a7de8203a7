// Integers: multiplications, shifts, logic and bit counts in two chains a thread.
#include "../suite.hpp"

extern "C" __global__ void integer_mix(unsigned* out, int rounds) {
    unsigned a = blockIdx.x * blockDim.x + threadIdx.x, b = ~a;
    for (int round = 0; round < rounds; ++round) {
        a = a * 2654435761U + (b >> 7);
        b = (b ^ a << 5) + __popc(a);
        a ^= __funnelshift_l(b, a, 11);
        b += __clz(b) * 3;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

static suite::Entry entry("integer_mix", [] { integer_mix<<<22, 256>>>(suite::zeros<unsigned>(22 * 256), 250); });
