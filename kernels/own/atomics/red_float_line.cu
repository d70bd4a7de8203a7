// Additions of floats to the 32 addresses of one line, one a lane.
#include "../suite.hpp"

extern "C" __global__ void red_float_line(float* to, int rounds) {
    for (int round = 0; round < rounds; ++round)
        asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to + threadIdx.x % 32), "f"(1.0F) : "memory");
}

static suite::Entry entry("red_float_line", [] { red_float_line<<<132, 256>>>(suite::zeros<float>(32), 8); });
