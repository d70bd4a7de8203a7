// A chain of loads by blocks of one warp, of which an SM holds 32. Advised: blocks of four warps.
#include "../own/suite.hpp"

constexpr unsigned kWords = 1 << 20, kThreads = 4224 * 128;

static __device__ void follow(unsigned* out, const unsigned* chain, int steps) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = thread / 32;
    for (int step = 0; step < steps; ++step) at = suite::spread(at + chain[at * 32 % kWords + thread % 32]);
    out[thread] = at;
}

extern "C" __global__ void block_size(unsigned* out, const unsigned* chain, int steps) { follow(out, chain, steps); }
extern "C" __global__ void block_size_advised(unsigned* out, const unsigned* chain, int steps) {
    follow(out, chain, steps);
}

static suite::Entry base("block_size", [] {
    block_size<<<kThreads / 32, 32>>>(suite::zeros<unsigned>(kThreads), suite::zeros<unsigned>(kWords), 16);
});
static suite::Entry advised("block_size_advised", [] {
    block_size_advised<<<kThreads / 128, 128>>>(suite::zeros<unsigned>(kThreads), suite::zeros<unsigned>(kWords), 16);
});
