// A histogram in shared memory with 64 bins that values far apart fill, so that few threads of a warp meet.
#include "../suite.hpp"

extern "C" __global__ void bins_of_many(const unsigned* values, unsigned* out, unsigned count) {
    __shared__ unsigned bins[64];
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(bins + (suite::spread(values[i] + i) & 63U), 1U);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(out + i, bins[i]);
}

static suite::Entry entry("bins_of_many", [] {
    constexpr unsigned kCount = 1 << 20;
    bins_of_many<<<132, 512>>>(suite::zeros<unsigned>(kCount), suite::zeros<unsigned>(64), kCount);
});
