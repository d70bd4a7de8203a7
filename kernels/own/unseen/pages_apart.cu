// Loads that are 192 KiB and a line apart over 1.5 GiB: each thread reads words of other pages.
#include "../suite.hpp"

extern "C" __global__ void pages_apart(const float* in, float* out, size_t distance, int rounds) {
    const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int round = 0; round < rounds; ++round) sum += in[(thread * 8 + round) % 8192 * distance + blockIdx.x % 32];
    out[thread] = sum;
}

static suite::Entry entry("pages_apart", [] {
    constexpr size_t kDistance = (192U << 8) + 32;
    pages_apart<<<264, 128>>>(suite::zeros<float>(kDistance * 8192), suite::zeros<float>(264 * 128), kDistance, 8);
});
