// One warp on each SM, of which one lane loads words of 40 MB one after the other. Each address needs the word before.
#include "../suite.hpp"

extern "C" __global__ void chase_40mb(const unsigned* in, unsigned* out, unsigned words, int rounds) {
    if (threadIdx.x != 0) return;
    unsigned place = suite::spread(blockIdx.x);
    for (int round = 0; round < rounds; ++round) place = suite::spread(place + __ldcg(in + place % words));
    out[blockIdx.x] = place;
}

static suite::Entry entry("chase_40mb", [] {
    chase_40mb<<<132, 32>>>(suite::zeros<unsigned>(10 << 20), suite::zeros<unsigned>(132), 10 << 20, 40);
});
