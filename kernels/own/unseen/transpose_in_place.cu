// A square matrix of 4-byte words that is transposed in place: each block swaps two tiles of 32 x 32.
#include "../suite.hpp"

extern "C" __global__ void transpose_in_place(unsigned* matrix, unsigned width) {
    __shared__ unsigned upper[32][33], lower[32][33];
    if (blockIdx.x > blockIdx.y) return;
    const unsigned left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (unsigned row = threadIdx.y; row < 32; row += blockDim.y) {
        upper[row][threadIdx.x] = matrix[(top + row) * width + left + threadIdx.x];
        lower[row][threadIdx.x] = matrix[(left + row) * width + top + threadIdx.x];
    }
    __syncthreads();
    for (unsigned row = threadIdx.y; row < 32; row += blockDim.y) {
        matrix[(left + row) * width + top + threadIdx.x] = upper[threadIdx.x][row];
        matrix[(top + row) * width + left + threadIdx.x] = lower[threadIdx.x][row];
    }
}

static suite::Entry entry("transpose_in_place", [] {
    transpose_in_place<<<dim3(48, 48), dim3(32, 8)>>>(suite::zeros<unsigned>(1536 * 1536), 1536);
});
