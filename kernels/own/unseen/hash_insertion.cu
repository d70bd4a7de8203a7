// Keys that are inserted into an open hash table: compare and swap until a free place is found.
#include "../suite.hpp"

extern "C" __global__ void hash_insertion(unsigned* table, unsigned mask, unsigned* steps) {
    const unsigned key = blockIdx.x * blockDim.x + threadIdx.x + 1;
    unsigned place = suite::spread(key) & mask, tried = 0;
    while (true) {
        const unsigned before = atomicCAS(table + place, 0U, key);
        ++tried;
        if (before == 0 || before == key) break;
        place = (place + 1) & mask;
    }
    steps[key - 1] = tried;
}

static suite::Entry entry("hash_insertion", [] {
    hash_insertion<<<512, 256>>>(suite::zeros<unsigned>(1 << 18), (1 << 18) - 1, suite::zeros<unsigned>(512 * 256));
});
