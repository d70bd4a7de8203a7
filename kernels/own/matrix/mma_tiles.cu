// c = a b on tensor cores from half-precision tiles in shared memory, by ldmatrix and mma.sync. The tiles of the next
// step are copied asynchronously. A block of four warps makes 64 x 64 numbers; a is row-major with `depth` columns, b
// is column-major.
#include "../suite.hpp"

#include <cuda_fp16.h>

namespace {

constexpr int kTile = 64, kStep = 32, kThreads = 128;
constexpr int kPitch = kStep + 8;  // 16 bytes more than a row: ldmatrix meets no bank twice

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Starts the copy of 64 rows of 32 numbers, 16 bytes a thread and turn.
__device__ __forceinline__ void copy_tile(__half (*to)[kPitch], const __half* from, int depth) {
    for (int part = threadIdx.x; part < kTile * kStep / 8; part += kThreads) {
        const int row = part / 4, column = part % 4 * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&to[row][column])),
                     "l"(from + row * depth + column));
    }
}

__device__ __forceinline__ void load_matrix(unsigned (&to)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row)));
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    mma_tiles(const __half* a, const __half* b, float* c, int columns, int depth) {
    __shared__ __half left[2][kTile][kPitch], right[2][kTile][kPitch];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const __half* from_a = a + blockIdx.y * kTile * depth;
    const __half* from_b = b + blockIdx.x * kTile * depth;
    float sum[8][4] = {};
    copy_tile(left[0], from_a, depth);
    copy_tile(right[0], from_b, depth);
    asm volatile("cp.async.commit_group;");
    for (int k = 0, which = 0; k < depth; k += kStep, which ^= 1) {
        if (k + kStep < depth) {
            copy_tile(left[which ^ 1], from_a + k + kStep, depth);
            copy_tile(right[which ^ 1], from_b + k + kStep, depth);
        }
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
#pragma unroll
        for (int part = 0; part < kStep; part += 16) {
            unsigned rows[4];
            load_matrix(rows, &left[which][warp * 16 + lane % 16][part + lane / 16 * 8]);
#pragma unroll
            for (int n = 0; n < kTile; n += 16) {
                unsigned cols[4];
                load_matrix(cols, &right[which][n + lane % 16][part + lane / 16 * 8]);
                multiply(sum[n / 8], rows, cols[0], cols[2]);
                multiply(sum[n / 8 + 1], rows, cols[1], cols[3]);
            }
        }
        __syncthreads();
    }
    float* to = c + (blockIdx.y * kTile + warp * 16 + lane / 4) * columns + blockIdx.x * kTile + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
        *reinterpret_cast<float2*>(to + n * 8) = make_float2(sum[n][0], sum[n][1]);
        *reinterpret_cast<float2*>(to + 8 * columns + n * 8) = make_float2(sum[n][2], sum[n][3]);
    }
}

static suite::Entry entry("mma_tiles", [] {
    constexpr int kRows = 512, kColumns = 512, kDepth = 512;
    mma_tiles<<<dim3(kColumns / kTile, kRows / kTile), kThreads>>>(
        suite::zeros<__half>(kRows * kDepth), suite::zeros<__half>(kDepth * kColumns),
        suite::zeros<float>(kRows * kColumns), kColumns, kDepth);
});
