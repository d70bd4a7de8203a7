// Each thread reads a row of its own word by word: 256 lines an SM that its L1 has to keep until the next word.
#include "../suite.hpp"

extern "C" __global__ void rows_in_l1(const float* in, float* out, int words) {
    const size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int word = 0; word < words; ++word) sum += in[index * words + word];
    out[index] = sum;
}

static suite::Entry entry("rows_in_l1", [] {
    rows_in_l1<<<264, 512>>>(suite::zeros<float>(264 * 512 * 32), suite::zeros<float>(264 * 512), 32);
});
