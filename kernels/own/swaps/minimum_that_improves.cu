// A minimum of floats by compare and swap to which each thread has something to say: later threads have smaller numbers.
#include "../suite.hpp"

extern "C" __global__ void minimum_that_improves(float* least, int* tries, int places) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = -static_cast<float>(thread) - 1;
    auto* place = reinterpret_cast<int*>(least + thread % places);
    int tried = 0, seen = *place;
    while (value < __int_as_float(seen)) {
        const int before = atomicCAS(place, seen, __float_as_int(value));
        ++tried;
        if (before == seen) break;
        seen = before;
    }
    tries[thread] = tried;
}

static suite::Entry entry("minimum_that_improves", [] {
    minimum_that_improves<<<132, 64>>>(suite::zeros<float>(16), suite::zeros<int>(132 * 64), 16);
});
