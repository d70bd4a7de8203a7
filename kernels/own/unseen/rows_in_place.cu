// Each thread changes a row of doubles of its own in place, a column after the other.
#include "../suite.hpp"

extern "C" __global__ void rows_in_place(double* rows, unsigned width, unsigned columns) {
    double* row = rows + (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
    for (unsigned i = 0; i < columns; ++i) row[i] = row[i] * 0.5 + 1.0;
}

static suite::Entry entry("rows_in_place", [] {
    rows_in_place<<<66, 128>>>(suite::zeros<double>(66 * 128 * 515), 515, 48);
});
