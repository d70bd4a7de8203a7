// Functions that are called by pointers, of which lanes of a warp have up to eight different ones.
#include "../suite.hpp"

using Step = unsigned (*)(unsigned);
template <int N>
__device__ __noinline__ unsigned step(unsigned number) {
    for (int i = 0; i < 2 + N; ++i) number = number * (1664525U + 2 * N) + (number >> (N + 3));
    return number;
}
__device__ Step steps[8] = {step<0>, step<1>, step<2>, step<3>, step<4>, step<5>, step<6>, step<7>};

extern "C" __global__ void calls_by_pointer(unsigned* out, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number = thread;
    for (int round = 0; round < rounds; ++round) number = steps[(number >> 5 ^ thread / 32) & 7U](number);
    for (int round = 0; round < rounds / 4; ++round) number = steps[number >> 7 & 7U](number);
    out[thread] = number;
}

static suite::Entry entry("calls_by_pointer", [] {
    calls_by_pointer<<<132, 256>>>(suite::zeros<unsigned>(132 * 256), 16);
});
