// A chain of loads by blocks that ask for 72 KiB of shared memory each, and use 4 KiB. Advised: they ask for 24 KiB.
#include "../own/suite.hpp"

constexpr unsigned kWords = 1 << 20, kUsed = 1024;

static __device__ void follow(unsigned* out, const unsigned* chain, int steps) {
    extern __shared__ unsigned words[];
    for (unsigned i = threadIdx.x; i < kUsed; i += blockDim.x) words[i] = i;
    __syncthreads();
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = thread / 32;
    for (int step = 0; step < steps; ++step)
        at = suite::spread(at + chain[at * 32 % kWords + thread % 32] + words[at % kUsed]);
    out[thread] = at;
}

extern "C" __global__ void shared_memory(unsigned* out, const unsigned* chain, int steps) { follow(out, chain, steps); }
extern "C" __global__ void shared_memory_advised(unsigned* out, const unsigned* chain, int steps) {
    follow(out, chain, steps);
}

static suite::Entry base("shared_memory", [] {
    suite::check(cudaFuncSetAttribute(shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 << 10), "shared");
    shared_memory<<<2112, 256, 72 << 10>>>(suite::zeros<unsigned>(2112 * 256), suite::zeros<unsigned>(kWords), 16);
});
static suite::Entry advised("shared_memory_advised", [] {
    shared_memory_advised<<<2112, 256, 24 << 10>>>(suite::zeros<unsigned>(2112 * 256), suite::zeros<unsigned>(kWords),
                                                   16);
});
