// A parameter of 2 KB that is read with an index, another one for each warp.
#include "../suite.hpp"

namespace {
struct Table {
    float value[512];
};
}  // namespace

extern "C" __global__ void large_parameters(const __grid_constant__ Table table, float* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int round = 0; round < rounds; ++round) sum = sum * 0.5F + table.value[(index / 32 * 13 + round * 7) % 512];
    out[index] = sum;
}

static suite::Entry entry("large_parameters",
                          [] { large_parameters<<<264, 256>>>(Table{}, suite::zeros<float>(264 * 256), 24); });
