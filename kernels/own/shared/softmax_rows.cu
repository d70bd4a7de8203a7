// Softmax of rows of 1,024 numbers, one block of 256 threads a row: two reductions by shuffles and shared memory.
#include "../suite.hpp"

namespace {

constexpr int kThreads = 256;

template <class Operation>
__device__ float reduce(float value, float* shared, Operation operation) {
    for (int distance = 16; distance > 0; distance /= 2)
        value = operation(value, __shfl_xor_sync(0xffffffffU, value, distance));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int warp = 1; warp < kThreads / 32; ++warp) value = operation(value, shared[warp]);
    __syncthreads();
    return value;
}

}  // namespace

extern "C" __global__ void softmax_rows(const float4* in, float4* out) {
    __shared__ float shared[kThreads / 32];
    float4 x = in[blockIdx.x * kThreads + threadIdx.x];
    const float largest =
        reduce(fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)), shared, [](float a, float b) { return fmaxf(a, b); });
    x = make_float4(__expf(x.x - largest), __expf(x.y - largest), __expf(x.z - largest), __expf(x.w - largest));
    const float sum = reduce(x.x + x.y + x.z + x.w, shared, [](float a, float b) { return a + b; });
    const float scale = 1.0F / sum;
    out[blockIdx.x * kThreads + threadIdx.x] = make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
}

static suite::Entry entry("softmax_rows", [] {
    constexpr int kRows = 1024;
    softmax_rows<<<kRows, kThreads>>>(suite::zeros<float4>(kRows * kThreads), suite::zeros<float4>(kRows * kThreads));
});
