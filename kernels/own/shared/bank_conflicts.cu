// Loads and stores of shared memory in which eight threads of a warp meet in each bank.
#include "../suite.hpp"

extern "C" __global__ void bank_conflicts(int* out, int stride, int rounds) {
    __shared__ int words[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) words[i] = i;
    __syncthreads();
    int at = threadIdx.x * stride, sum = 0;
    for (int round = 0; round < rounds; ++round) {
        sum += words[at % 2048];
        at += stride * 32 + 1;
    }
    words[threadIdx.x * stride % 2048] = sum;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x];
}

static suite::Entry entry("bank_conflicts", [] { bank_conflicts<<<44, 256>>>(suite::zeros<int>(44 * 256), 8, 128); });
