// The same shape with stores: each thread of a warp reads its row and writes another one, a line a lane.
#include "../suite.hpp"

extern "C" __global__ void rows_written(const float* table, const float* shift, float* out, int columns) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const float* from = table + suite::spread(row) % 1024 * columns;
    for (int i = 0; i < columns; ++i) out[row * columns + i] = from[i] + shift[row % 64 * columns + i];
}

static suite::Entry entry("rows_written", [] {
    constexpr int kColumns = 192;
    rows_written<<<64, 32>>>(suite::zeros<float>(1024 * kColumns), suite::zeros<float>(64 * kColumns),
                             suite::zeros<float>(64 * 32 * kColumns), kColumns);
});
