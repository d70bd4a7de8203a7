// A copy with 16 bytes a thread.
#include "../suite.hpp"

extern "C" __global__ void copy_wide(const float4* in, float4* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

static suite::Entry entry("copy_wide", [] {
    constexpr int kBlocks = 4096, kThreads = 256;
    copy_wide<<<kBlocks, kThreads>>>(suite::zeros<float4>(kBlocks * kThreads),
                                     suite::zeros<float4>(kBlocks * kThreads));
});
