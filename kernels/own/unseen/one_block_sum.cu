// One block of 1,024 threads that sums 2 MiB alone.
#include "../suite.hpp"

extern "C" __global__ void one_block_sum(const float4* in, float* out, unsigned count) {
    __shared__ float sums[32];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const float4 four = in[i];
        sum += four.x + four.y + four.z + four.w;
    }
    for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0U, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sums[threadIdx.x];
        for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0U, sum, step);
        if (threadIdx.x == 0) *out = sum;
    }
}

static suite::Entry entry("one_block_sum", [] {
    one_block_sum<<<1, 1024>>>(suite::zeros<float4>(1 << 17), suite::zeros<float>(1), 1 << 17);
});
