// Words that are found by way of two arrays of indices, all of them in the L2 after the first use.
#include "../suite.hpp"

extern "C" __global__ void two_indices(const unsigned* first, const unsigned* second, const float* data, float* out) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = data[second[first[thread]]];
}

static suite::Entry entry("two_indices", [] {
    constexpr unsigned kCount = 1 << 19;
    std::vector<unsigned> first(kCount), second(kCount);
    for (unsigned i = 0; i < kCount; ++i) {
        first[i] = (i * 40503U ^ i >> 5) % kCount;
        second[i] = (i * 69069U + 12345U ^ i >> 7) % kCount;
    }
    two_indices<<<kCount / 256, 256>>>(suite::copy_of(first), suite::copy_of(second), suite::zeros<float>(kCount),
                                       suite::zeros<float>(kCount));
});
