// Each thread searches a row for its largest number and offers it to one of 8 places if it is larger than what a plain
// load finds there, by atomicMax() and not by a loop of swaps.
#include "../suite.hpp"

extern "C" __global__ void largest_of_rows(unsigned* largest, int* tries, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned number = suite::spread(thread);
    int tried = 0;
    for (int round = 0; round < rounds; ++round) {
        unsigned* const place = largest + number % 8;
        if (*place < number) {
            atomicMax(place, number);
            ++tried;
        }
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    tries[thread] = tried;
}

static suite::Entry entry("largest_of_rows", [] {
    largest_of_rows<<<264, 128>>>(suite::zeros<unsigned>(8), suite::zeros<int>(264 * 128), 16);
});
