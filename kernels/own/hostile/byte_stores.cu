// Single bytes: stores that are 3 bytes apart, and a load of each byte before.
#include "../suite.hpp"

extern "C" __global__ void byte_stores(const unsigned char* in, unsigned char* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; ++round) {
        const size_t place = static_cast<size_t>(round) * threads + index;
        out[place * 3] = in[place] + 1;
    }
}

static suite::Entry entry("byte_stores", [] {
    constexpr size_t kThreads = 264 * 256, kRounds = 8;
    byte_stores<<<264, 256>>>(suite::zeros<unsigned char>(kThreads * kRounds),
                              suite::zeros<unsigned char>(kThreads * kRounds * 3), kRounds);
});
