// c = a b in single precision: tiles of 128 x 128 in steps of 8, each of 256 threads makes 8 x 8 of one in registers.
// a has `depth` columns, b and c have `columns`. Loads of the next step are in flight during the products of one.
#include "../suite.hpp"

namespace {

constexpr int kTile = 128, kStep = 8, kEach = 8, kThreads = 256;

struct Tiles {
    float a[2][kStep][kTile], b[2][kStep][kTile];
};

/// Products of one step: each thread reads 8 numbers of a column of a and 8 of a row of b.
__device__ __forceinline__ void multiply(const Tiles& tiles, int which, int row, int column,
                                         float (&sum)[kEach][kEach]) {
#pragma unroll
    for (int k = 0; k < kStep; ++k) {
        float left[kEach], right[kEach];
#pragma unroll
        for (int i = 0; i < kEach; i += 4) {
            *reinterpret_cast<float4*>(left + i) = *reinterpret_cast<const float4*>(&tiles.a[which][k][row + 16 * i]);
            *reinterpret_cast<float4*>(right + i) =
                *reinterpret_cast<const float4*>(&tiles.b[which][k][column + 16 * i]);
        }
#pragma unroll
        for (int i = 0; i < kEach; ++i)
#pragma unroll
            for (int j = 0; j < kEach; ++j) sum[i][j] += left[i] * right[j];
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_registers(const float* a, const float* b, float* c, int columns, int depth) {
    __shared__ Tiles tiles;
    const int t = threadIdx.x;
    const int row = t / 16 * 4, column = t % 16 * 4;
    const float* from_a = a + (blockIdx.y * kTile + t / 2) * depth + t % 2 * 4;
    const float* from_b = b + t / 32 * columns + blockIdx.x * kTile + t % 32 * 4;
    float sum[kEach][kEach] = {};
    float4 next_a = *reinterpret_cast<const float4*>(from_a), next_b = *reinterpret_cast<const float4*>(from_b);
    int which = 0;
    for (int k = 0; k < depth; k += kStep) {
        float* to = &tiles.a[which][t % 2 * 4][t / 2];
        to[0] = next_a.x;
        to[kTile] = next_a.y;
        to[2 * kTile] = next_a.z;
        to[3 * kTile] = next_a.w;
        *reinterpret_cast<float4*>(&tiles.b[which][t / 32][t % 32 * 4]) = next_b;
        __syncthreads();
        if (k + kStep < depth) {
            next_a = *reinterpret_cast<const float4*>(from_a + k + kStep);
            next_b = *reinterpret_cast<const float4*>(from_b + (k + kStep) * columns);
        }
        multiply(tiles, which, row, column, sum);
        which ^= 1;
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; j += 4)
            *reinterpret_cast<float4*>(c + (blockIdx.y * kTile + row + i % 4 + i / 4 * 64) * columns +
                                       blockIdx.x * kTile + column + j * 16) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

static suite::Entry entry("sgemm_registers", [] {
    constexpr int kRows = 512, kColumns = 256, kDepth = 96;
    sgemm_registers<<<dim3(kColumns / kTile, kRows / kTile), kThreads>>>(
        suite::zeros<float>(kRows * kDepth), suite::zeros<float>(kDepth * kColumns),
        suite::zeros<float>(kRows * kColumns), kColumns, kDepth);
});
