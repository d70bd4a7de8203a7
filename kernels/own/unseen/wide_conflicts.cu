// Loads and stores of 8 and 16 bytes in shared memory, whose lanes are 2 to 5 such words apart.
#include "../suite.hpp"

extern "C" __global__ void wide_conflicts(float* out, int rounds) {
    __shared__ double2 words[1024];
    double* narrow = reinterpret_cast<double*>(words);
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = make_double2(i, i + 1);
    __syncthreads();
    double sum = 0;
    unsigned place = threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        const double2 two = words[place * 4 % 1024];
        sum += two.x - two.y + narrow[place * 2 % 2048] + narrow[(place * 16 + round) % 2048];
        __syncthreads();
        narrow[place * 5 % 2048] = sum;
        words[(place * 2 + round) % 1024].y = sum;
        __syncthreads();
        place += 33;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("wide_conflicts", [] { wide_conflicts<<<264, 256>>>(suite::zeros<float>(264 * 256), 24); });
