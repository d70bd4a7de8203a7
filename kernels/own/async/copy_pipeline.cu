// Asynchronous copies of 16 bytes into four stages of shared memory, and a sum over each stage as it arrives.
#include "../suite.hpp"

constexpr int kThreads = 128, kStages = 4;

extern "C" __global__ void copy_pipeline(const float4* in, float* out, int parts) {
    __shared__ float4 stages[kStages][kThreads];
    const float4* from = in + static_cast<size_t>(blockIdx.x) * parts * kThreads + threadIdx.x;
    float sum = 0;
    for (int part = 0; part < parts + kStages - 1; ++part) {
        if (part < parts) {
            const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&stages[part % kStages][threadIdx.x]));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + part * kThreads));
        }
        asm volatile("cp.async.commit_group;");
        if (part < kStages - 1) continue;
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1));
        __syncthreads();
        const float4 x = stages[(part + 1) % kStages][(threadIdx.x + 1) % kThreads];
        sum += x.x + x.y + x.z + x.w;
        __syncthreads();
    }
    out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

static suite::Entry entry("copy_pipeline", [] {
    constexpr int kBlocks = 264, kParts = 16;
    copy_pipeline<<<kBlocks, kThreads>>>(suite::zeros<float4>(kBlocks * kParts * kThreads),
                                         suite::zeros<float>(kBlocks * kThreads), kParts);
});
