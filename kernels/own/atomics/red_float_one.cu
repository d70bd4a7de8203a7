// Additions of floats to one address, whose result nobody reads.
#include "../suite.hpp"

extern "C" __global__ void red_float_one(float* to, int rounds) {
    const float value = static_cast<float>(threadIdx.x);
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(value) : "memory");
}

static suite::Entry entry("red_float_one", [] { red_float_one<<<64, 256>>>(suite::zeros<float>(1), 2); });
