// Each thread adds the 64 numbers of a row. Advised: the matrix is stored column by column, so that the threads of a
// warp read words side by side.
#include "../own/suite.hpp"

constexpr int kColumns = 64, kRows = 132 * 2048;

extern "C" __global__ void coalesced(float* out, const float* matrix) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int column = 0; column < kColumns; ++column) sum += matrix[row * kColumns + column];
    out[row] = sum;
}
extern "C" __global__ void coalesced_advised(float* out, const float* matrix) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int column = 0; column < kColumns; ++column) sum += matrix[column * kRows + row];
    out[row] = sum;
}

static suite::Entry base("coalesced", [] {
    coalesced<<<kRows / 256, 256>>>(suite::zeros<float>(kRows), suite::zeros<float>(kRows * kColumns));
});
static suite::Entry advised("coalesced_advised", [] {
    coalesced_advised<<<kRows / 256, 256>>>(suite::zeros<float>(kRows), suite::zeros<float>(kRows * kColumns));
});
