// Bulk copies of 4 KiB into two stages of shared memory; all threads wait at an mbarrier for the bytes of each stage.
#include "../suite.hpp"

namespace {

constexpr int kThreads = 128, kStages = 2, kFloats = 1024, kBytes = kFloats * 4;

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// One thread says how many bytes the barrier has to wait for, and starts the copy.
__device__ __forceinline__ void start(float* to, const float* from, unsigned long long* barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "n"(kBytes));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "n"(kBytes), "r"(shared_address(barrier))
                 : "memory");
}

__device__ __forceinline__ void wait(unsigned long long* barrier, unsigned phase) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n}" ::"r"(shared_address(barrier)),
        "r"(phase)
        : "memory");
}

}  // namespace

extern "C" __global__ void bulk_copies(const float* in, float* out, int parts) {
    __shared__ alignas(128) float stages[kStages][kFloats];
    __shared__ alignas(8) unsigned long long full[kStages];
    const float* from = in + static_cast<size_t>(blockIdx.x) * parts * kFloats;
    if (threadIdx.x == 0) {
        for (auto& barrier : full)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        for (int stage = 0; stage < kStages; ++stage) start(stages[stage], from + stage * kFloats, &full[stage]);
    }
    __syncthreads();
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
        const int stage = part % kStages;
        wait(&full[stage], part / kStages % 2);
        for (int i = threadIdx.x; i < kFloats; i += kThreads) sum += stages[stage][i];
        __syncthreads();
        if (threadIdx.x == 0 && part + kStages < parts)
            start(stages[stage], from + (part + kStages) * kFloats, &full[stage]);
    }
    out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

static suite::Entry entry("bulk_copies", [] {
    constexpr int kBlocks = 198, kParts = 8;
    bulk_copies<<<kBlocks, kThreads>>>(suite::zeros<float>(kBlocks * kParts * kFloats),
                                       suite::zeros<float>(kBlocks * kThreads), kParts);
});
