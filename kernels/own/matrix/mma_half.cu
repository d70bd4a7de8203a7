// Tensor cores alone: two chains of 16 x 8 x 16 products of half-precision numbers a warp, operands in registers.
#include "../suite.hpp"

extern "C" __global__ void mma_half(float* out, unsigned operand, int rounds) {
    float sum[2][4] = {};
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (auto& s : sum)
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %5, %5}, {%4, %5}, "
                "{%0, %1, %2, %3};"
                : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                : "r"(operand), "r"(operand + threadIdx.x));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0][0] + sum[0][3] + sum[1][1] + sum[1][2];
}

static suite::Entry entry("mma_half", [] { mma_half<<<44, 256>>>(suite::zeros<float>(44 * 256), 0x3c003c00U, 300); });
