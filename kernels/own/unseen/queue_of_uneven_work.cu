// Blocks that take work from a counter in memory, whose items take up to 40 times as long as others.
#include "../suite.hpp"

extern "C" __global__ void queue_of_uneven_work(unsigned* next, unsigned* out, unsigned items) {
    __shared__ unsigned item;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) item = atomicAdd(next, 1U);
        __syncthreads();
        if (item >= items) return;
        unsigned number = item + threadIdx.x;
        const unsigned steps = 4 + suite::spread(item) % 40 * (item % 8 == 0 ? 8 : 1);
        for (unsigned i = 0; i < steps; ++i) number = number * 1664525U + (number >> 3);
        out[item * blockDim.x + threadIdx.x] = number;
    }
}

static suite::Entry entry("queue_of_uneven_work", [] {
    queue_of_uneven_work<<<396, 128>>>(suite::zeros<unsigned>(1), suite::zeros<unsigned>(3000 * 128), 3000);
});
