// Prices of European options by the formula of Black and Scholes (1973), one thread an option.
// The normal distribution is that of Abramowitz and Stegun (Handbook of Mathematical Functions, 26.2.17). Volkov 2016,
// 3.10, times the CUDA SDK's kernel of that name with and without fast math; this one is written for gputomo. nvcc
// compiles it twice: black_scholes.ptx without and black_scholes_fast.ptx with -use_fast_math.
__device__ float normal_distribution(float x) {
    const float k = 1 / (1 + 0.2316419f * fabsf(x));
    const float tail =
        0.39894228f * expf(-0.5f * x * x) * k *
        (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return x > 0 ? 1 - tail : tail;
}

extern "C" __global__ void black_scholes(float* calls, float* puts, const float* prices, const float* strikes,
                                         const float* years, float rate, float volatility) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float price = prices[i], strike = strikes[i], time = years[i];
    const float root = sqrtf(time);
    const float d1 = (logf(price / strike) + (rate + 0.5f * volatility * volatility) * time) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
    const float discounted = strike * expf(-rate * time);
    calls[i] = price * n1 - discounted * n2;
    puts[i] = discounted * (1 - n2) - price * (1 - n1);
}
