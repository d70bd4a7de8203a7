// A product of half-precision matrices by two warp groups a block: tiles of 128 x 128, four stages of asynchronous
// copies, rows of 128 bytes with the 128-byte swizzle, sums in single precision.
#include "../own/suite.hpp"

#include <cuda_fp16.h>

namespace {

constexpr int kThreads = 256, kTile = 128, kDepth = 64, kStages = 4, kChunk = 8;
constexpr int kMatrixBytes = kTile * kDepth * 2, kStageBytes = 2 * kMatrixBytes;
constexpr int kShared = kStages * kStageBytes + 1024;  // aligned to 1024 bytes by the kernel

/// Copies 128 rows of 64 halves. Chunks of 16 bytes change places within a row by the number of the row.
__device__ __forceinline__ void copy_rows(unsigned to, const __half* from, int row_length) {
    for (int i = threadIdx.x; i < kTile * kDepth / kChunk; i += kThreads) {
        const int row = i / kChunk, chunk = i % kChunk;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + row * 128 + ((chunk ^ (row % 8)) * 16)),
                     "l"(from + static_cast<size_t>(row) * row_length + chunk * kChunk));
    }
}

/// Eight rows of 128 bytes follow one another; the next eight begin 1024 bytes later.
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
    return (address >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,"
        "%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"
        "%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
          "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
          "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
          "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
          "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b));
}

}  // namespace

/// c = a * transposed b: rows of a, b and c follow one another.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    wgmma_half(const __half* a, const __half* b, float* c, int columns, int depth) {
    extern __shared__ unsigned char memory[];
    const unsigned first =
        (static_cast<unsigned>(__cvta_generic_to_shared(memory)) + 1023u) / 1024u * 1024u;
    const int group = threadIdx.x / 128, steps = depth / kDepth;
    a += static_cast<size_t>(blockIdx.y) * kTile * depth;
    b += static_cast<size_t>(blockIdx.x) * kTile * depth;
    const auto load = [&](int step) {
        if (step < steps) {
            const unsigned stage = first + step % kStages * kStageBytes;
            copy_rows(stage, a + step * kDepth, depth);
            copy_rows(stage + kMatrixBytes, b + step * kDepth, depth);
        }
        asm volatile("cp.async.commit_group;");
    };
    for (int step = 0; step < kStages - 1; ++step) load(step);
    float d[64];
    for (float& sum : d) sum = 0;
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
        asm volatile("fence.proxy.async;");
        __syncthreads();
        const unsigned stage = first + step % kStages * kStageBytes;
        asm volatile("wgmma.fence.sync.aligned;");
        for (int k = 0; k < kDepth / 16; ++k)
            multiply(d, descriptor(stage + group * 64 * 128 + k * 32), descriptor(stage + kMatrixBytes + k * 32));
        asm volatile("wgmma.commit_group.sync.aligned;");
        asm volatile("wgmma.wait_group.sync.aligned 0;");
        __syncthreads();
        load(step + kStages - 1);
    }
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    float* to = c + (static_cast<size_t>(blockIdx.y) * kTile + group * 64 + warp * 16 + lane / 4) * columns +
                blockIdx.x * kTile + lane % 4 * 2;
    for (int j = 0; j < 16; ++j) {
        *reinterpret_cast<float2*>(to + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
        *reinterpret_cast<float2*>(to + 8 * columns + j * 8) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
}

static suite::Entry entry("wgmma_half", [] {
    constexpr int kRows = 2048, kColumns = 2048, kK = 1024;
    suite::check(cudaFuncSetAttribute(wgmma_half, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
                 "cudaFuncSetAttribute");
    // Small whole numbers, which repeat, so that a capture of them is small.
    std::vector<__half> a(static_cast<std::size_t>(kRows) * kK), b(static_cast<std::size_t>(kColumns) * kK);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = __half(static_cast<float>(static_cast<int>(i % 61) - 30));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = __half(static_cast<float>(static_cast<int>(i % 53) - 26));
    wgmma_half<<<dim3(kColumns / kTile, kRows / kTile), kThreads, kShared>>>(
        suite::copy_of(a), suite::copy_of(b), suite::zeros<float>(static_cast<std::size_t>(kRows) * kColumns), kColumns,
        kK);
});
