// Makes values absolute in place and writes only those that change (Volkov 2016, Listing 3.7).
extern "C" __global__ void vector_abs(float* a) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float value = a[i];
    if (value < 0) a[i] = -value;
}
