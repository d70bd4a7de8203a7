// The second block polls a flag that the first one sets after its work.
#include "../suite.hpp"

extern "C" __global__ void polled_flag(volatile unsigned* flag, float* out, int rounds) {
    if (blockIdx.x == 0) {
        float value = static_cast<float>(threadIdx.x);
        for (int round = 0; round < rounds; ++round) value = value * 0.5F + 1.0F;
        out[threadIdx.x] = value;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *flag = 1;
        return;
    }
    if (threadIdx.x == 0)
        while (*flag == 0) continue;
    __syncthreads();
    out[blockDim.x + threadIdx.x] = __ldcg(out + threadIdx.x);
}

static suite::Entry entry("polled_flag",
                          [] { polled_flag<<<2, 128>>>(suite::zeros<unsigned>(1), suite::zeros<float>(256), 2000); });
