// Ballots, matches and reductions of a warp, of which each result decides about the next value.
#include "../suite.hpp"

extern "C" __global__ void votes_and_matches(unsigned* out, int rounds) {
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = suite::spread(index);
    for (int round = 0; round < rounds; ++round) {
        const unsigned same = __match_any_sync(~0U, value % 6);
        value += __popc(same) * 17 + __ballot_sync(~0U, value & 4);
        value ^= __reduce_add_sync(~0U, value & 0xffff);
        int all;
        value += __match_all_sync(~0U, value >> 31, &all) + all;
        value += __reduce_max_sync(~0U, value >> 16) + threadIdx.x * 7;
    }
    out[index] = value;
}

static suite::Entry entry("votes_and_matches",
                          [] { votes_and_matches<<<132, 128>>>(suite::zeros<unsigned>(132 * 128), 24); });
