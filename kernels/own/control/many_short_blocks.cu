// 12,000 blocks of one warp that each store one line.
#include "../suite.hpp"

extern "C" __global__ void many_short_blocks(unsigned* out) { out[blockIdx.x * 32 + threadIdx.x] = blockIdx.x; }

static suite::Entry entry("many_short_blocks",
                          [] { many_short_blocks<<<12000, 32>>>(suite::zeros<unsigned>(12000 * 32)); });
