// A copy whose source begins 4 bytes and whose destination 20 bytes after a line.
#include "../suite.hpp"

extern "C" __global__ void beside_the_line(const float* in, float* out) {
    const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    out[thread + 5] = in[thread + 1];
}

static suite::Entry entry("beside_the_line", [] {
    constexpr size_t kThreads = 16384 * 256;
    beside_the_line<<<16384, 256>>>(suite::zeros<float>(kThreads + 8), suite::zeros<float>(kThreads + 8));
});
