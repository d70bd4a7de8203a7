// Threads of each warp go four different ways. Advised: threads that go the same way are in the same warps.
#include "../own/suite.hpp"

static __device__ void run(float* out, float factor, int rounds, int way) {
    float sum = threadIdx.x;
    switch (way) {
        case 0:
            for (int round = 0; round < rounds; ++round) sum = sum * factor + 1;
            break;
        case 1:
            for (int round = 0; round < rounds; ++round) sum = fmaxf(sum, factor) * sum;
            break;
        case 2:
            for (int round = 0; round < rounds; ++round) sum = __int_as_float(__float_as_int(sum) ^ round) + factor;
            break;
        default:
            for (int round = 0; round < rounds; ++round) sum = fminf(sum * sum, factor) + round;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void divergence(float* out, float factor, int rounds) {
    run(out, factor, rounds, suite::spread(threadIdx.x) % 4);
}
extern "C" __global__ void divergence_advised(float* out, float factor, int rounds) {
    run(out, factor, rounds, threadIdx.x / 32 % 4);
}

static suite::Entry base("divergence", [] { divergence<<<1056, 256>>>(suite::zeros<float>(1056 * 256), 0.5f, 128); });
static suite::Entry advised("divergence_advised",
                            [] { divergence_advised<<<1056, 256>>>(suite::zeros<float>(1056 * 256), 0.5f, 128); });
