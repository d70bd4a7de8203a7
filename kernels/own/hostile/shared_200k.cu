// One block an SM has 200 KB of shared memory, through which four warps walk with a stride of 33 words.
#include "../suite.hpp"

extern "C" __global__ void shared_200k(unsigned* out, int words, int rounds) {
    extern __shared__ unsigned memory[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) memory[i] = (i * 33U + 7) % words;
    __syncthreads();
    unsigned place = threadIdx.x * 97U % words;
    for (int round = 0; round < rounds; ++round) place = memory[place];
    out[blockIdx.x * blockDim.x + threadIdx.x] = place;
}

static suite::Entry entry("shared_200k", [] {
    constexpr int kBytes = 200 * 1024;
    suite::check(cudaFuncSetAttribute(shared_200k, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes), "attribute");
    shared_200k<<<132, 128, kBytes>>>(suite::zeros<unsigned>(132 * 128), kBytes / 4, 100);
});
