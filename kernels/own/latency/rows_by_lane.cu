// Few warps, a line a lane: in each of 64 blocks of one warp, each thread walks along a row of its own, twice.
#include "../suite.hpp"

extern "C" __global__ void rows_by_lane(const float* in, float* out, int columns) {
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    const float* at = in + row * columns;
    float mean = 0;
    for (int i = 0; i < columns; ++i) mean += at[i];
    mean /= static_cast<float>(columns);
    float variance = 0;
    for (int i = 0; i < columns; ++i) {
        const float difference = at[i] - mean;
        variance += difference * difference;
    }
    out[row] = variance / static_cast<float>(columns);
}

static suite::Entry entry("rows_by_lane", [] {
    constexpr int kColumns = 384;
    rows_by_lane<<<64, 32>>>(suite::zeros<float>(64 * 32 * kColumns), suite::zeros<float>(64 * 32), kColumns);
});
