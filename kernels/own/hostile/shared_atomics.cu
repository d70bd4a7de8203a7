// Atomics of several types on 64 addresses of shared memory each: sum, largest, exchange, 64 bits, and swaps.
#include "../suite.hpp"

extern "C" __global__ void shared_atomics(unsigned long long* out, int rounds) {
    __shared__ unsigned sums[64], largest[64], last[64];
    __shared__ unsigned long long wide[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) sums[i] = largest[i] = last[i] = wide[i] = 0;
    __syncthreads();
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x), seen = 0;
    for (int round = 0; round < rounds; ++round) {
        seen += atomicAdd(sums + number % 64, number >> 20);
        atomicMax(largest + (number >> 6) % 64, number);
        seen += atomicExch(last + (number >> 12) % 64, number);
        atomicAdd(wide + (number >> 18) % 64, static_cast<unsigned long long>(number) << 20);
        seen += atomicCAS(last + (number >> 24) % 64, seen, number);
        number = number * 1664525U + 1013904223U;
    }
    __syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = wide[threadIdx.x] + sums[threadIdx.x] + (seen & 1);
}

static suite::Entry entry("shared_atomics",
                          [] { shared_atomics<<<132, 128>>>(suite::zeros<unsigned long long>(132 * 64), 8); });
