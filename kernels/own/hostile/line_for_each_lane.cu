// Full SMs, where each lane of a load reads a line of its own, of 33 MB.
#include "../suite.hpp"

extern "C" __global__ void line_for_each_lane(const float* in, float* out, int loads) {
    const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < loads; ++i) sum += in[(index * loads + i) * 32 + i];
    out[index] = sum;
}

static suite::Entry entry("line_for_each_lane", [] {
    constexpr size_t kThreads = 132 * 512, kLoads = 4;
    line_for_each_lane<<<132, 512>>>(suite::zeros<float>(kThreads * kLoads * 32), suite::zeros<float>(kThreads), kLoads);
});
