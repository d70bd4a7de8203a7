// 64 blocks that pass through a section under one lock in memory, with a sleep before each further try.
#include "../suite.hpp"

extern "C" __global__ void lock_in_memory(unsigned* lock, volatile float* sum) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0U, 1U) != 0) __nanosleep(100);
    __threadfence();
    *sum = *sum + static_cast<float>(blockIdx.x);
    __threadfence();
    atomicExch(lock, 0U);
}

static suite::Entry entry("lock_in_memory",
                          [] { lock_in_memory<<<64, 32>>>(suite::zeros<unsigned>(1), suite::zeros<float>(1)); });
