// Sums of doubles and a minimum of floats by compare and swap in shared memory, then one swap loop of each block.
#include "../suite.hpp"

extern "C" __global__ void swaps_in_shared_memory(float* least, int* tries, unsigned places, int rounds) {
    __shared__ double sums[64];
    __shared__ int smallest;
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 64) sums[threadIdx.x] = 0;
    if (threadIdx.x == 0) smallest = 0;
    __syncthreads();
    unsigned number = suite::spread(thread);
    int tried = 0;
    for (int round = 0; round < rounds; ++round) {
        auto* place = reinterpret_cast<unsigned long long*>(sums + number % places);
        unsigned long long before = *place, seen;
        do {
            seen = before;
            before = atomicCAS(place, seen, __double_as_longlong(1.0 + __longlong_as_double(seen)));
            ++tried;
        } while (seen != before);
        const float value = -static_cast<float>(number >> 8);
        int least_seen = *static_cast<volatile int*>(&smallest);
        while (value < __int_as_float(least_seen)) {
            const int swapped = atomicCAS(&smallest, least_seen, __float_as_int(value));
            ++tried;
            if (swapped == least_seen) break;
            least_seen = swapped;
        }
        number = number * 1664525U + 1013904223U;
        number ^= number >> 13;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        auto* place = reinterpret_cast<int*>(least);
        const float value = __int_as_float(smallest) - static_cast<float>(sums[0]);
        int seen = *place;
        while (value < __int_as_float(seen)) {
            const int before = atomicCAS(place, seen, __float_as_int(value));
            if (before == seen) break;
            seen = before;
        }
    }
    tries[thread] = tried;
}

static suite::Entry entry("swaps_in_shared_memory", [] {
    swaps_in_shared_memory<<<132, 128>>>(suite::zeros<float>(1), suite::zeros<int>(132 * 128), 64, 4);
});
