// The sum of two arrays, four bytes a thread.
#include "../suite.hpp"

extern "C" __global__ void add_arrays(const float* a, const float* b, float* sum) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = a[i] + b[i];
}

static suite::Entry entry("add_arrays", [] {
    constexpr int kCount = 1 << 20, kThreads = 256;
    add_arrays<<<kCount / kThreads, kThreads>>>(suite::zeros<float>(kCount), suite::zeros<float>(kCount),
                                                suite::zeros<float>(kCount));
});
