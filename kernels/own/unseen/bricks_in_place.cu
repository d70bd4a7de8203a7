// A volume of doubles that blocks of 8 x 8 x 8 threads change in place: each warp has rows of 64 bytes.
#include "../suite.hpp"

extern "C" __global__ void bricks_in_place(double* volume, unsigned width) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                   z = blockIdx.z * blockDim.z + threadIdx.z;
    double* word = volume + (static_cast<size_t>(z) * width + y) * width + x;
    *word = *word * 0.5 + 1.0;
}

static suite::Entry entry("bricks_in_place", [] {
    bricks_in_place<<<dim3(20, 20, 20), dim3(8, 8, 8)>>>(suite::zeros<double>(160 * 160 * 160), 160);
});
