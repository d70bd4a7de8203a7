// Integers by bits and bytes: permutations, sums of products of bytes, counts, high halves of products.
#include "../suite.hpp"

extern "C" __global__ void bits_and_bytes(unsigned* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = suite::spread(index), b = suite::spread(index + 1), c = index;
    for (int round = 0; round < rounds; ++round) {
        c = __dp4a(a, b, c) + __popc(a ^ c);
        a = __byte_perm(a, b, c & 0x7777) + __clz(b | 1);
        b = __umulhi(a, c) ^ __brev(c) + static_cast<unsigned>(__ffsll((static_cast<unsigned long long>(a) << 32) | c));
        c = __funnelshift_l(c, a, b) + __vabsdiffu4(a, b);
    }
    out[index] = a + b + c;
}

static suite::Entry entry("bits_and_bytes", [] { bits_and_bytes<<<264, 256>>>(suite::zeros<unsigned>(264 * 256), 12); });
