// Calls through pointers of a table, one of four functions for each lane.
#include "../suite.hpp"

namespace {
using Function = float (*)(float, int);
__device__ __noinline__ float add_scaled(float x, int n) { return x * 0.5F + n; }
__device__ __noinline__ float reciprocal(float x, int n) { return 1.0F / (x * x + n + 1); }
__device__ __noinline__ float polynomial(float x, int n) {
    for (int i = 0; i < 4; ++i) x = x * 0.25F + i;
    return x + n;
}
__device__ __noinline__ float root(float x, int n) { return sqrtf(fabsf(x) + n); }
__device__ Function functions[4] = {add_scaled, reciprocal, polynomial, root};
}  // namespace

extern "C" __global__ void indirect_calls(float* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    float value = index * 0.01F;
    for (int round = 0; round < rounds; ++round) value = functions[(threadIdx.x / 8 + round) % 4](value, round);
    out[index] = value;
}

static suite::Entry entry("indirect_calls", [] { indirect_calls<<<264, 128>>>(suite::zeros<float>(264 * 128), 12); });
