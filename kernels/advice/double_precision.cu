// A polynomial in double precision, with coefficients in shared memory. Advised: in single precision.
#include "../own/suite.hpp"

template <class Real>
static __device__ void evaluate(float* out, Real step, int rounds) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    Real x = step * thread, values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma unroll 4
    for (int round = 0; round < rounds; ++round)
        for (Real& value : values) value = value * x + step;
    Real sum = 0;
    for (const Real value : values) sum += value;
    out[thread] = static_cast<float>(sum);
}

extern "C" __global__ void double_precision(float* out, float step, int rounds) { evaluate<double>(out, step, rounds); }
extern "C" __global__ void double_precision_advised(float* out, float step, int rounds) {
    evaluate<float>(out, step, rounds);
}

static suite::Entry base("double_precision",
                         [] { double_precision<<<528, 256>>>(suite::zeros<float>(528 * 256), 0.001f, 256); });
static suite::Entry advised("double_precision_advised", [] {
    double_precision_advised<<<528, 256>>>(suite::zeros<float>(528 * 256), 0.001f, 256);
});
