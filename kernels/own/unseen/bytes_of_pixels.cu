// Pixels of three bytes: each thread loads and stores three of them, a byte at a time.
#include "../suite.hpp"

extern "C" __global__ void bytes_of_pixels(const unsigned char* in, unsigned char* out) {
    const size_t first = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 3;
    const unsigned red = in[first], green = in[first + 1], blue = in[first + 2];
    const unsigned gray = (77 * red + 150 * green + 29 * blue) >> 8;
    out[first] = static_cast<unsigned char>(255 - gray);
    out[first + 1] = static_cast<unsigned char>(green / 2 + gray / 2);
    out[first + 2] = static_cast<unsigned char>(blue);
}

static suite::Entry entry("bytes_of_pixels", [] {
    constexpr size_t kThreads = 4096 * 256;
    bytes_of_pixels<<<4096, 256>>>(suite::zeros<unsigned char>(kThreads * 3), suite::zeros<unsigned char>(kThreads * 3));
});
