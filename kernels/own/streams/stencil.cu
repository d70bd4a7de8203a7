// The mean of a point and its four neighbours in a plane of 1,024 x 640 numbers.
#include "../suite.hpp"

extern "C" __global__ void stencil(const float* in, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
    const float* at = in + y * width + x;
    out[y * width + x] = 0.2F * (at[0] + at[-1] + at[1] + at[-width] + at[width]);
}

static suite::Entry entry("stencil", [] {
    constexpr int kWidth = 1024, kHeight = 640;
    stencil<<<dim3(kWidth / 64, kHeight / 4), dim3(64, 4)>>>(suite::zeros<float>(kWidth * kHeight),
                                                             suite::zeros<float>(kWidth * kHeight), kWidth, kHeight);
});
