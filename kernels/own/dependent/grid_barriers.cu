// A cooperative launch whose blocks meet four times at a barrier of the whole grid, an integer in memory.
#include "../suite.hpp"

__device__ void meet(unsigned* arrived, unsigned wanted) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1U);
        while (*static_cast<volatile unsigned*>(arrived) < wanted) continue;
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barriers(float* values, unsigned* arrived, int rounds) {
    const unsigned count = gridDim.x * blockDim.x, mine = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        const float other = __ldcg(values + (mine + blockDim.x) % count);
        meet(arrived, (2 * round + 1) * gridDim.x);
        values[mine] = other * 0.5F + 1.0F;
        meet(arrived, (2 * round + 2) * gridDim.x);
    }
}

static suite::Entry entry("grid_barriers", [] {
    auto* values = suite::zeros<float>(132 * 64);
    auto* arrived = suite::zeros<unsigned>(1);
    int rounds = 3;
    void* arguments[] = {&values, &arrived, &rounds};
    suite::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_barriers), dim3(132), dim3(64),
                                             arguments, 0, nullptr),
                 "cudaLaunchCooperativeKernel");
});
