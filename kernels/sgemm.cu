// c = a b for row-major matrices: a has `depth` columns, b and c have `columns`.
// A block of 256 threads makes a tile of 64 x 64 from tiles of 64 x 16 in shared memory, each thread 4 x 4 of it.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, unsigned columns, unsigned depth) {
    constexpr unsigned kTile = 64, kDepth = 16, kEach = 4;
    __shared__ float left[kDepth][kTile + 4], right[kDepth][kTile];
    const unsigned row = blockIdx.y * kTile, column = blockIdx.x * kTile;
    const unsigned tx = threadIdx.x % (kTile / kEach), ty = threadIdx.x / (kTile / kEach);
    const float4* from_a =
        reinterpret_cast<const float4*>(a + (row + threadIdx.x / kEach) * depth) + threadIdx.x % kEach;
    const float4* from_b = reinterpret_cast<const float4*>(b + ty * columns + column) + tx;
    float sum[kEach][kEach] = {};
    for (unsigned k = 0; k < depth; k += kDepth) {
        const float4 part = *from_a;
        left[threadIdx.x % kEach * kEach + 0][threadIdx.x / kEach] = part.x;
        left[threadIdx.x % kEach * kEach + 1][threadIdx.x / kEach] = part.y;
        left[threadIdx.x % kEach * kEach + 2][threadIdx.x / kEach] = part.z;
        left[threadIdx.x % kEach * kEach + 3][threadIdx.x / kEach] = part.w;
        *reinterpret_cast<float4*>(&right[ty][tx * kEach]) = *from_b;
        from_a += kDepth / kEach;
        from_b += kDepth * columns / kEach;
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < kDepth; ++i) {
            const float4 x = *reinterpret_cast<const float4*>(&left[i][ty * kEach]);
            const float4 y = *reinterpret_cast<const float4*>(&right[i][tx * kEach]);
            const float xs[] = {x.x, x.y, x.z, x.w}, ys[] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (unsigned m = 0; m < kEach; ++m)
#pragma unroll
                for (unsigned n = 0; n < kEach; ++n) sum[m][n] += xs[m] * ys[n];
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned m = 0; m < kEach; ++m)
        *reinterpret_cast<float4*>(c + (row + ty * kEach + m) * columns + column + tx * kEach) =
            make_float4(sum[m][0], sum[m][1], sum[m][2], sum[m][3]);
}
