// One thread of each warp pushes elements to the front of one list by compare and swap.
#include "../suite.hpp"

extern "C" __global__ void pushes_to_a_list(unsigned* front, unsigned* next, int* tries, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, warp = thread / 32;
    int tried = 0;
    if (thread % 32 == 0)
        for (int round = 0; round < rounds; ++round) {
            const unsigned element = warp * rounds + round + 1;
            unsigned seen = *static_cast<volatile unsigned*>(front), before = seen;
            do {
                seen = before;
                next[element] = seen;
                __threadfence();
                before = atomicCAS(front, seen, element);
                ++tried;
            } while (seen != before);
        }
    tries[thread] = tried;
}

static suite::Entry entry("pushes_to_a_list", [] {
    pushes_to_a_list<<<132, 64>>>(suite::zeros<unsigned>(1), suite::zeros<unsigned>(264 * 4 + 1),
                                  suite::zeros<int>(132 * 64), 4);
});
