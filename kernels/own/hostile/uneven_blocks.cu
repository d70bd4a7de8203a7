// Blocks whose work grows with their number, 1 to 8 times, in 3.5 waves of one block an SM.
#include "../suite.hpp"

extern "C" __global__ void __launch_bounds__(1024, 1) uneven_blocks(float* out, int rounds) {
    extern __shared__ float unused[];
    float value = threadIdx.x;
    const int mine = rounds * (1 + blockIdx.x * 8 / gridDim.x);
    for (int round = 0; round < mine; ++round) value = value * 0.99F + round;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static suite::Entry entry("uneven_blocks", [] {
    constexpr int kBytes = 128 * 1024;
    suite::check(cudaFuncSetAttribute(uneven_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes), "attribute");
    uneven_blocks<<<462, 512, kBytes>>>(suite::zeros<float>(462 * 512), 40);
});
