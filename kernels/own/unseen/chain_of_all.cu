// All warps of the GPU follow one chain of dependent words that are the same for each lane.
#include "../suite.hpp"

extern "C" __global__ void chain_of_all(const unsigned* next, unsigned* out, int rounds) {
    unsigned place = 0;
    for (int round = 0; round < rounds; ++round) place = __ldcg(next + place) + 97;
    out[blockIdx.x * blockDim.x + threadIdx.x] = place;
}

static suite::Entry entry("chain_of_all", [] {
    chain_of_all<<<264, 256>>>(suite::zeros<unsigned>(97 * 32), suite::zeros<unsigned>(264 * 256), 24);
});
