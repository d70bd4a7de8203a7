// Each block writes a column of a matrix: the words of a thread are 8 KiB apart, and no two stores meet in a line.
#include "../suite.hpp"

extern "C" __global__ void columns_written(float* matrix, unsigned pitch) {
    const unsigned row = threadIdx.x, column = blockIdx.x;
    for (unsigned i = 0; i < 4; ++i) matrix[(row * 4 + i) * pitch + column] = static_cast<float>(row + i);
}

static suite::Entry entry("columns_written", [] { columns_written<<<2048, 256>>>(suite::zeros<float>(1024 * 2048), 2048); });
