// Tensor cores on bytes: a chain of 16 x 8 x 32 integer products a warp, so that latency decides.
#include "../suite.hpp"

extern "C" __global__ void mma_bytes(int* out, unsigned operand, int rounds) {
    int sum[4] = {};
    for (int round = 0; round < rounds; ++round)
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %5, %5}, {%4, %5}, "
            "{%0, %1, %2, %3};"
            : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
            : "r"(operand), "r"(operand + threadIdx.x));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

static suite::Entry entry("mma_bytes", [] { mma_bytes<<<66, 128>>>(suite::zeros<int>(66 * 128), 0x01020304U, 400); });
