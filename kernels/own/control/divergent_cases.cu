// A switch that sends the threads of a warp to eight different cases.
#include "../suite.hpp"

extern "C" __global__ void divergent_cases(float* out, int rounds) {
    float x = static_cast<float>(threadIdx.x);
    unsigned state = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    for (int round = 0; round < rounds; ++round) {
        switch (state >> 29) {
            case 0: x = x * 1.5F + 1.0F; break;
            case 1: x = sqrtf(x + 2.0F); break;
            case 2: x = x - 3.0F * static_cast<float>(round); break;
            case 3: x = __expf(-x * x); break;
            case 4: x = x < 0 ? -x : x * 0.5F; break;
            case 5: x = 1.0F / (1.0F + x * x); break;
            case 6: x = __int_as_float(__float_as_int(x) ^ 1); break;
            default: x = fminf(x, 100.0F) + 0.125F; break;
        }
        state = state * 1664525U + 1013904223U;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static suite::Entry entry("divergent_cases", [] { divergent_cases<<<33, 256>>>(suite::zeros<float>(33 * 256), 16); });
