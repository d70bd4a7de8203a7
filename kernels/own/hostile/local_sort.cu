// Each thread sorts 24 numbers of its own, in an array that lies in local memory because its index is computed.
#include "../suite.hpp"

extern "C" __global__ void local_sort(unsigned* out, int count) {
    unsigned values[24];
    const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < count; ++i) values[i] = suite::spread(index * 24 + i);
    for (int i = 1; i < count; ++i) {
        const unsigned value = values[i];
        int place = i - 1;
        for (; place >= 0 && values[place] > value; --place) values[place + 1] = values[place];
        values[place + 1] = value;
    }
    out[index] = values[count / 2];
}

static suite::Entry entry("local_sort", [] { local_sort<<<132, 64>>>(suite::zeros<unsigned>(132 * 64), 20); });
