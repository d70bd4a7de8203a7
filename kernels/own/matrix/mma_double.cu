// Tensor cores in double precision: two chains of 8 x 8 x 4 products a warp.
#include "../suite.hpp"

extern "C" __global__ void mma_double(double* out, double operand, int rounds) {
    double sum[2][2] = {};
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (auto& s : sum)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(s[0]), "+d"(s[1])
                         : "d"(operand), "d"(operand + threadIdx.x));
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0][0] + sum[0][1] + sum[1][0] + sum[1][1];
}

static suite::Entry entry("mma_double", [] { mma_double<<<66, 128>>>(suite::zeros<double>(66 * 128), 0.5, 300); });
