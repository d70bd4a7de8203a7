// Additions of integers to one address of shared memory by all threads of a block.
#include "../suite.hpp"

extern "C" __global__ void shared_int_one(unsigned* out, int rounds) {
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&sum));
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(to), "r"(threadIdx.x) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static suite::Entry entry("shared_int_one", [] { shared_int_one<<<44, 256>>>(suite::zeros<unsigned>(44), 300); });
