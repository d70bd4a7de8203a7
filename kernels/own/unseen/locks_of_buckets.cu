// Threads that lock one of 4,096 buckets by compare and swap and change two words under the lock.
#include "../suite.hpp"

extern "C" __global__ void locks_of_buckets(unsigned* locks, volatile unsigned* buckets, unsigned mask) {
    const unsigned bucket = suite::spread(blockIdx.x * blockDim.x + threadIdx.x) & mask;
    bool done = false;
    while (!done) {
        if (atomicCAS(locks + bucket, 0U, 1U) == 0U) {
            buckets[2 * bucket] = buckets[2 * bucket] + 1;
            buckets[2 * bucket + 1] = bucket;
            __threadfence();
            atomicExch(locks + bucket, 0U);
            done = true;
        }
    }
}

static suite::Entry entry("locks_of_buckets", [] {
    locks_of_buckets<<<132, 128>>>(suite::zeros<unsigned>(4096), suite::zeros<unsigned>(8192), 4095);
});
