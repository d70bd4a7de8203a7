// Loads of lines that are 18 MiB and a line apart over 576 MiB, which is more than the first TLB of an SM reaches.
#include "../suite.hpp"

extern "C" __global__ void tlb_reach(const float* in, float* out, unsigned distance, int lines, int rounds) {
    float sum = 0;
    for (int round = 0; round < rounds; ++round)
        for (int line = 0; line < lines; ++line) {
            const unsigned which = (line + blockIdx.x + threadIdx.x / 32 * 5) % lines;
            sum += __ldcg(in + static_cast<size_t>(which) * distance + round * 32 + threadIdx.x % 32);
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("tlb_reach", [] {
    constexpr unsigned kDistance = (18U << 18) + 32, kLines = 32;
    tlb_reach<<<132, 64>>>(suite::zeros<float>(static_cast<size_t>(kDistance) * kLines + 1024),
                           suite::zeros<float>(132 * 64), kDistance, kLines, 2);
});
