// Each thread loads and stores one number of two bytes. Advised: eight of them with accesses of 16 bytes.
#include "../own/suite.hpp"

constexpr int kNumbers = 132 * 2048 * 64;

extern "C" __global__ void wide_accesses(unsigned short* out, const unsigned short* in, int factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * factor + 1;
}
extern "C" __global__ void wide_accesses_advised(uint4* out, const uint4* in, int factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 numbers = in[i];
    auto* const each = reinterpret_cast<unsigned short*>(&numbers);
    for (int n = 0; n < 8; ++n) each[n] = each[n] * factor + 1;
    out[i] = numbers;
}

static suite::Entry base("wide_accesses", [] {
    wide_accesses<<<kNumbers / 256, 256>>>(suite::zeros<unsigned short>(kNumbers),
                                           suite::zeros<unsigned short>(kNumbers), 3);
});
static suite::Entry advised("wide_accesses_advised", [] {
    wide_accesses_advised<<<kNumbers / 8 / 256, 256>>>(suite::zeros<uint4>(kNumbers / 8),
                                                       suite::zeros<uint4>(kNumbers / 8), 3);
});
