// Threads take the lock of one of 64 buckets by compare and swap, add to its sum, and give the lock back.
#include "../suite.hpp"

extern "C" __global__ void sums_under_locks(unsigned* locks, volatile float* sums, int* tries, unsigned buckets) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned bucket = suite::spread(thread) % buckets;
    int tried = 0;
    bool done = false;
    while (!done) {
        ++tried;
        if (atomicCAS(locks + 8 * bucket, 0U, 1U) == 0U) {
            __threadfence();
            sums[bucket] = sums[bucket] + 1;
            __threadfence();
            atomicExch(locks + 8 * bucket, 0U);
            done = true;
        }
    }
    tries[thread] = tried;
}

static suite::Entry entry("sums_under_locks", [] {
    sums_under_locks<<<132, 32>>>(suite::zeros<unsigned>(512), suite::zeros<float>(64), suite::zeros<int>(132 * 32), 64);
});
