// Filtered fetches of a texture of 512 x 512 floats, at places between its elements.
#include "../suite.hpp"

extern "C" __global__ void textures_linear(cudaTextureObject_t texture, float* out, int width) {
    const unsigned x = blockIdx.x % 32 * 16 + threadIdx.x, y = blockIdx.x / 32 * 16 + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += tex2D<float>(texture, x + 0.3F * i, y + 0.7F * i);
    out[y * width + x] = sum;
}

static suite::Entry entry("textures_linear", [] {
    cudaArray_t array;
    const auto format = cudaCreateChannelDesc<float>();
    suite::check(cudaMallocArray(&array, &format, 512, 512), "cudaMallocArray");
    const std::vector<float> zeros(512 * 512);
    suite::check(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), 2048, 2048, 512, cudaMemcpyHostToDevice), "copy");
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    suite::check(cudaCreateTextureObject(&texture, &resource, &description, nullptr), "cudaCreateTextureObject");
    textures_linear<<<1024, dim3(16, 16)>>>(texture, suite::zeros<float>(512 * 512), 512);
});
