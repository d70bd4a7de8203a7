// A cooperative launch with the toolkit's own barrier of the grid, whose memory the driver provides.
#include "../suite.hpp"

#include <cooperative_groups.h>

extern "C" __global__ void cooperative_sync(float* values, int rounds) {
    const auto grid = cooperative_groups::this_grid();
    const unsigned count = gridDim.x * blockDim.x, mine = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        const float other = __ldcg(values + (mine + blockDim.x) % count);
        grid.sync();
        values[mine] = other * 0.5F + 1.0F;
        grid.sync();
    }
}

static suite::Entry entry("cooperative_sync", [] {
    auto* values = suite::zeros<float>(132 * 64);
    int rounds = 2;
    void* arguments[] = {&values, &rounds};
    suite::check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cooperative_sync), dim3(132), dim3(64),
                                             arguments, 0, nullptr),
                 "cudaLaunchCooperativeKernel");
});
