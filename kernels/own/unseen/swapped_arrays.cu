// Two arrays of 32 MiB whose doubles change places.
#include "../suite.hpp"

extern "C" __global__ void swapped_arrays(double* first, double* second) {
    const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const double one = first[thread], other = second[thread];
    first[thread] = other;
    second[thread] = one;
}

static suite::Entry entry("swapped_arrays", [] {
    constexpr size_t kThreads = 1 << 22;
    swapped_arrays<<<kThreads / 256, 256>>>(suite::zeros<double>(kThreads), suite::zeros<double>(kThreads));
});
