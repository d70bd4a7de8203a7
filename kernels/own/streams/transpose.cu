// The transpose of a matrix of 1,280 x 1,280 by tiles of 32 x 32 in shared memory with a padded row.
#include "../suite.hpp"

extern "C" __global__ void transpose(const float* in, float* out, int size) {
    __shared__ float tile[32][33];
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(row + i) * size + column];
    __syncthreads();
    const int to_column = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(to_row + i) * size + to_column] = tile[threadIdx.x][threadIdx.y + i];
}

static suite::Entry entry("transpose", [] {
    constexpr int kSize = 1280;
    transpose<<<dim3(kSize / 32, kSize / 32), dim3(32, 8)>>>(suite::zeros<float>(kSize * kSize),
                                                             suite::zeros<float>(kSize * kSize), kSize);
});
