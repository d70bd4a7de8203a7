// Stores of four bytes in every sector of 32: DRAM has to read what the stores leave of each sector.
#include "../suite.hpp"

extern "C" __global__ void partial_writes(unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 8] = i;
}

static suite::Entry entry("partial_writes", [] {
    constexpr int kCount = 1 << 19;
    partial_writes<<<kCount / 256, 256>>>(suite::zeros<unsigned>(kCount * 8));
});
