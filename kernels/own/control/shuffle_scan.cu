// Prefix sums within each warp by shuffles, and votes.
#include "../suite.hpp"

extern "C" __global__ void shuffle_scan(int* out, int rounds) {
    const int lane = threadIdx.x % 32;
    int value = lane + 1;
    for (int round = 0; round < rounds; ++round) {
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(0xffffffffU, value, distance);
            if (lane >= distance) value += other;
        }
        value = (value & 0xff) + __popc(__ballot_sync(0xffffffffU, (value & 1) != 0));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static suite::Entry entry("shuffle_scan", [] { shuffle_scan<<<33, 256>>>(suite::zeros<int>(33 * 256), 60); });
