// Products of halves on tensor cores, of tiles whose rows are 128 bytes apart: ldmatrix meets bank conflicts.
#include "../suite.hpp"

extern "C" __global__ void tiles_in_conflict(float* out, int rounds) {
    __shared__ __align__(128) unsigned tiles[64 * 32];
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) tiles[i] = i * 0x3c003800U;
    __syncthreads();
    float sum[4] = {};
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tiles + threadIdx.x % 16 * 32 + threadIdx.x / 16 % 2 * 4));
    for (int round = 0; round < rounds; ++round) {
        unsigned a[4], b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(address + round % 4 * 2048));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1])
                     : "r"(address + round % 3 * 2048));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                     "{%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}

static suite::Entry entry("tiles_in_conflict", [] { tiles_in_conflict<<<264, 128>>>(suite::zeros<float>(264 * 128), 48); });
