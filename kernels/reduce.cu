// Each block of 256 threads sums 4096 numbers: 16 for each thread, then a tree in shared memory.
extern "C" __global__ void reduce(const float* in, float* out) {
    constexpr unsigned kThreads = 256, kEach = 16;
    __shared__ float parts[kThreads];
    const float* from = in + static_cast<unsigned long long>(blockIdx.x) * kThreads * kEach + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) sum += from[i * kThreads];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}
