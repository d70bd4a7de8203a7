// A chain of loads, during which each thread keeps 96 numbers in registers. Advised: they are loaded after the chain.
#include "../own/suite.hpp"

constexpr int kKept = 96;
constexpr unsigned kWords = 1 << 20;

template <bool kBefore>
static __device__ void follow(float* out, const float* kept, const unsigned* chain, int steps) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float numbers[kKept];
    if (kBefore) {
#pragma unroll
        for (int i = 0; i < kKept; ++i) numbers[i] = kept[(thread % 32) + i * 32];
    }
    unsigned at = thread / 32;
    for (int step = 0; step < steps; ++step) at = suite::spread(at + chain[at * 32 % kWords + thread % 32]);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kKept; ++i) sum = sum * (kBefore ? numbers[i] : kept[(thread % 32) + i * 32]) + at;
    out[thread] = sum;
}

extern "C" __global__ void registers(float* out, const float* kept, const unsigned* chain, int steps) {
    follow<true>(out, kept, chain, steps);
}
extern "C" __global__ void registers_advised(float* out, const float* kept, const unsigned* chain, int steps) {
    follow<false>(out, kept, chain, steps);
}

static suite::Entry base("registers", [] {
    registers<<<2112, 128>>>(suite::zeros<float>(2112 * 128), suite::zeros<float>(kKept * 32),
                             suite::zeros<unsigned>(kWords), 32);
});
static suite::Entry advised("registers_advised", [] {
    registers_advised<<<2112, 128>>>(suite::zeros<float>(2112 * 128), suite::zeros<float>(kKept * 32),
                                     suite::zeros<unsigned>(kWords), 32);
});
