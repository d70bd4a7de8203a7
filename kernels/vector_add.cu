// Adds two vectors (Volkov 2016, Listing 3.4).
extern "C" __global__ void vector_add(const float* a, const float* b, float* c) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
