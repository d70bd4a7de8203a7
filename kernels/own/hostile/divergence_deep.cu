// Branches five deep by the bits of the lane, in an order that changes: each of 32 lanes comes to a leaf of its own.
#include "../suite.hpp"

template <int kDepth>
__device__ __forceinline__ unsigned leaf(unsigned path, unsigned value) {
    if constexpr (kDepth == 0) {
        return value * 2654435761U + path;
    } else {
        if (path & 1U) return leaf<kDepth - 1>(path >> 1, value ^ 0x5bd1e995U) + (value >> 3);
        return leaf<kDepth - 1>(path >> 1, value + kDepth) ^ (value << 5);
    }
}

extern "C" __global__ void divergence_deep(unsigned* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = suite::spread(index);
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        unsigned path = threadIdx.x + round * 7U;
        asm volatile("" : "+r"(path));
        switch (path % 8) {
            case 0: value = leaf<5>(path, value); break;
            case 1: value = __popc(value) + leaf<4>(path, value); break;
            case 2: value = value * value + leaf<3>(path, value); break;
            case 3: value = __brev(value); break;
            case 4: value = (value << 7) | (value >> 25); break;
            case 5: for (unsigned i = 0; i < value % 8; ++i) value = value * 5 + i; break;
            case 6: value = __umulhi(value, 0x9e3779b9U); break;
            default: value = value / (path + 3); break;
        }
    }
    out[index] = value;
}

static suite::Entry entry("divergence_deep", [] { divergence_deep<<<132, 64>>>(suite::zeros<unsigned>(132 * 64), 16); });
