// The last warp of a block computes; the others sleep until it sets a flag in shared memory.
#include "../suite.hpp"

extern "C" __global__ void sleep_and_poll(float* out, int rounds) {
    __shared__ volatile int done;
    __shared__ volatile float result;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    if (threadIdx.x / 32 == blockDim.x / 32 - 1) {
        float value = threadIdx.x;
        for (int round = 0; round < rounds; ++round) value = sinf(value) * 3.0F + 1.0F;
        if (threadIdx.x % 32 == 0) {
            result = value;
            __threadfence_block();
            done = 1;
        }
    } else {
        while (done == 0) __nanosleep(100);
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

static suite::Entry entry("sleep_and_poll", [] { sleep_and_poll<<<132, 128>>>(suite::zeros<float>(132 * 128), 100); });
