// Records of 48 bytes that each thread loads as three words of 16 bytes, and of which it stores one.
#include "../suite.hpp"

extern "C" __global__ void records_of_48(const float4* in, float4* out) {
    const size_t thread = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const float4 a = in[thread * 3], b = in[thread * 3 + 1], c = in[thread * 3 + 2];
    out[thread * 3 + 1] = make_float4(a.x + b.x, a.y + b.y, b.z * c.z, c.w);
}

static suite::Entry entry("records_of_48", [] {
    constexpr size_t kThreads = 1024 * 256;
    records_of_48<<<1024, 256>>>(suite::zeros<float4>(kThreads * 3), suite::zeros<float4>(kThreads * 3));
});
