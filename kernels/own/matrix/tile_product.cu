// c = a b in single precision by tiles of 16 x 16 in shared memory, one number of c a thread.
#include "../suite.hpp"

constexpr int kTile = 16;

extern "C" __global__ void tile_product(const float* a, const float* b, float* c, int columns, int depth) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < depth; k += kTile) {
        left[threadIdx.y][threadIdx.x] = a[row * depth + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * columns + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}

static suite::Entry entry("tile_product", [] {
    constexpr int kRows = 256, kColumns = 256, kDepth = 128;
    tile_product<<<dim3(kColumns / kTile, kRows / kTile), dim3(kTile, kTile)>>>(
        suite::zeros<float>(kRows * kDepth), suite::zeros<float>(kDepth * kColumns),
        suite::zeros<float>(kRows * kColumns), kColumns, kDepth);
});
