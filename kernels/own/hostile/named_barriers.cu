// Two groups of warps hand a buffer of shared memory to each other by named barriers.
#include "../suite.hpp"

extern "C" __global__ void named_barriers(float* out, int rounds) {
    __shared__ float buffer[128];
    const bool writes = threadIdx.x < 128;
    const unsigned place = threadIdx.x % 128;
    float value = place;
    for (int round = 0; round < rounds; ++round) {
        if (writes) {
            value = value * 0.75F + round;
            asm volatile("bar.sync 1, 256;" ::: "memory");
            buffer[place] = value;
            asm volatile("bar.arrive 2, 256;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 256;" ::: "memory");
            asm volatile("bar.sync 2, 256;" ::: "memory");
            value += buffer[(place * 5 + round) % 128];
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static suite::Entry entry("named_barriers", [] { named_barriers<<<132, 256>>>(suite::zeros<float>(132 * 256), 64); });
