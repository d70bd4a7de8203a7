// All threads of a warp read one bank of shared memory. Advised: a column of padding spreads them over all banks.
#include "../own/suite.hpp"

template <int kPadding>
static __device__ void sum_columns(float* out, int rounds) {
    __shared__ float tile[32][32 + kPadding];
    const int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < 32; row += blockDim.x / 32) tile[row][lane] = row;
    __syncthreads();
    float sum = 0;
    for (int round = 0; round < rounds; ++round) sum += tile[lane][(round + threadIdx.x / 32) % 32] * sum + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void bank_conflicts(float* out, int rounds) { sum_columns<0>(out, rounds); }
extern "C" __global__ void bank_conflicts_advised(float* out, int rounds) { sum_columns<1>(out, rounds); }

static suite::Entry base("bank_conflicts", [] { bank_conflicts<<<528, 256>>>(suite::zeros<float>(528 * 256), 128); });
static suite::Entry advised("bank_conflicts_advised",
                            [] { bank_conflicts_advised<<<528, 256>>>(suite::zeros<float>(528 * 256), 128); });
