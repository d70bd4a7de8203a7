// Copies a vector in another order (Volkov 2016, Listing 3.6).
extern "C" __global__ void permute(unsigned* a, const unsigned* b, const unsigned* c) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b[c[i]];
}
