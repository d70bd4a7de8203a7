// Records of 36 bytes, of which each thread reads and writes all nine words, and a part of which lies in two lines.
#include "../suite.hpp"

extern "C" __global__ void odd_strides(const float* in, float* out) {
    const size_t first = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 9 + 1;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 9; ++i) sum += in[first + i];
#pragma unroll
    for (int i = 0; i < 9; ++i) out[first + i] = sum - i;
}

static suite::Entry entry("odd_strides", [] {
    constexpr size_t kThreads = 528 * 256;
    odd_strides<<<528, 256>>>(suite::zeros<float>(kThreads * 9 + 1), suite::zeros<float>(kThreads * 9 + 1));
});
