// Additions of floats to one address of shared memory, which a block makes by compare and swap.
#include "../suite.hpp"

extern "C" __global__ void shared_one(float* out, int rounds) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) atomicAdd(&sum, static_cast<float>(threadIdx.x + round));
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

static suite::Entry entry("shared_one", [] { shared_one<<<66, 128>>>(suite::zeros<float>(66), 2); });
