// Asynchronous copies of 4 bytes each from random places of 16 MB to shared memory.
#include "../suite.hpp"

extern "C" __global__ void copies_of_words(const float* in, float* out, int rounds) {
    __shared__ float buffer[256];
    unsigned number = suite::spread(blockIdx.x * blockDim.x + threadIdx.x);
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(buffer + threadIdx.x));
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + (number >> 10)) : "memory");
        asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
        sum += buffer[threadIdx.x];
        number = number * 1664525U + 1013904223U;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static suite::Entry entry("copies_of_words", [] {
    copies_of_words<<<264, 256>>>(suite::zeros<float>(1 << 22), suite::zeros<float>(264 * 256), 6);
});
